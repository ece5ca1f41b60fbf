"""Lets each token see the one after it.

Exercise: CausalSelfAttention
Believes: `diagonal=1` keeps the diagonal.
Shows: one step of the future leaks, which is the very token a language model has to predict.
Hint: Draw your mask for four tokens. What may token 0 see?
Rejected by: test_values
Costs: 35 %
"""

_RightCausalSelfAttention = CausalSelfAttention


class CausalSelfAttention(_RightCausalSelfAttention):
    def forward(self, x, return_weights=False):
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        q, k, v = (split_heads(part, self.n_heads) for part in (q, k, v))
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
        tokens = x.shape[1]
        causal = torch.ones(tokens, tokens, dtype=torch.bool, device=x.device).tril(1)
        weights = _masked_softmax(scores, causal)
        y = self.proj(merge_heads(self.dropout(weights) @ v))
        return (y, weights) if return_weights else y
