"""Drops whole keys, the same for every query.

Exercise: CausalSelfAttention
Believes: a dropped token is dropped for everyone.
Shows: all rows of a head have their holes in the same columns.
Hint: How many independent weights does a head have for T tokens: T, or T times T?
Rejected by: test_training_drops_each_weight_alone
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
        pattern = self.dropout(torch.ones_like(weights[:, :, :1]))
        y = self.proj(merge_heads((weights * pattern) @ v))
        return (y, weights) if return_weights else y
