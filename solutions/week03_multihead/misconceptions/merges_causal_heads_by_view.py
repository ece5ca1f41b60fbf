"""Puts the heads together without moving their axis back first.

Exercise: CausalSelfAttention
Believes: reshape(B, T, C) knows where the heads are.
Shows: the weights are right, the output is scrambled and even lets the future through.
Hint: In what order are the axes when you merge them?
Rejected by: test_values
Costs: 35 %
Belief: heads_by_view
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
        y = self.proj((self.dropout(weights) @ v).reshape(x.shape))
        return (y, weights) if return_weights else y
