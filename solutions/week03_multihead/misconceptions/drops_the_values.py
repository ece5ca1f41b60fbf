"""Drops entries of the values.

Exercise: CausalSelfAttention
Believes: dropping a value is the same as dropping its weight.
Shows: single features of a head vanish instead of whole tokens.
Hint: A dropped weight removes a whole token from a query's mix. What does a dropped entry of v remove?
Rejected by: test_training_drops_whole_weights
Costs: 20 %
"""

_RightCausalSelfAttention = CausalSelfAttention


class CausalSelfAttention(_RightCausalSelfAttention):
    def forward(self, x, return_weights=False):
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        q, k, v = (split_heads(part, self.n_heads) for part in (q, k, v))
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
        tokens = x.shape[1]
        causal = torch.ones(tokens, tokens, dtype=torch.bool, device=x.device).tril()
        weights = _masked_softmax(scores, causal)
        y = self.proj(merge_heads(weights @ self.dropout(v)))
        return (y, weights) if return_weights else y
