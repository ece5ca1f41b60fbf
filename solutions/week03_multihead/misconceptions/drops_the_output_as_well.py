"""Drops entries of the output in addition to the weights.

Exercise: CausalSelfAttention
Believes: every dropout of GPT-2 belongs in the attention module.
Shows: single features of y are zero in training, in addition to the dropped weights.
Hint: GPT-2 does drop there, but what does this class promise about where dropout falls?
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
        y = self.dropout(self.proj(merge_heads(self.dropout(weights) @ v)))
        return (y, weights) if return_weights else y
