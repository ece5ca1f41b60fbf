"""Uses the first third of the fused projection as values, the last as queries.

Exercise: CausalSelfAttention
Believes: the order of the three parts is free.
Shows: the values play the queries' role.
Hint: The docstring fixes an order for the output of `qkv`. Follow each third to the place where it
is used.
Rejected by: test_values
Costs: 25 %
"""

_RightCausalSelfAttention = CausalSelfAttention


class CausalSelfAttention(_RightCausalSelfAttention):
    def forward(self, x, return_weights=False):
        v, k, q = self.qkv(x).chunk(3, dim=-1)
        q, k, v = (split_heads(part, self.n_heads) for part in (q, k, v))
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
        tokens = x.shape[1]
        causal = torch.ones(tokens, tokens, dtype=torch.bool, device=x.device).tril()
        weights = _masked_softmax(scores, causal)
        y = self.proj(merge_heads(self.dropout(weights) @ v))
        return (y, weights) if return_weights else y
