"""Hides the diagonal too, so that a token cannot see itself.

Exercise: CausalSelfAttention
Believes: 'only earlier tokens' leaves out the present one.
Shows: the first token has nothing to attend to and gets zeros.
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
        weights = _masked_softmax(scores, causal)
        y = self.proj(merge_heads(self.dropout(weights) @ v))
        return (y, weights) if return_weights else y
