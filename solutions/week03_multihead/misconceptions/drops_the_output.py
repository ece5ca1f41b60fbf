"""Drops entries of the output.

Exercise: CausalSelfAttention
Believes: dropout belongs at the end of a layer.
Shows: single features of y are zero in training; weights are never dropped.
Hint: With one token per sequence there is one weight per head. What can dropout on it do to the head's output?
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
        y = self.dropout(self.proj(merge_heads(weights @ v)))
        return (y, weights) if return_weights else y
