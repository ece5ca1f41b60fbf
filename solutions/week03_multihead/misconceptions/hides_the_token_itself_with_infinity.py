"""Hides the diagonal too, so that the first token sees nothing and becomes NaN.

Exercise: CausalSelfAttention
Believes: 'only earlier tokens' leaves out the present one.
Shows: the first token's output is NaN, and no other token sees itself.
Hint: Which tokens may token 0 see? It has to be at least one.
Rejected by: test_values
Costs: 30 %
"""

_RightCausalSelfAttention = CausalSelfAttention


class CausalSelfAttention(_RightCausalSelfAttention):
    def forward(self, x, return_weights=False):
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        q, k, v = (split_heads(part, self.n_heads) for part in (q, k, v))
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
        tokens = x.shape[1]
        causal = torch.ones(tokens, tokens, dtype=torch.bool, device=x.device).tril(-1)
        weights = torch.softmax(scores.masked_fill(~causal, -math.inf), dim=-1)
        y = self.proj(merge_heads(self.dropout(weights) @ v))
        return (y, weights) if return_weights else y
