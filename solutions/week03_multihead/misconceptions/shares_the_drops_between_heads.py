"""Drops the same weights in every head.

Exercise: CausalSelfAttention
Believes: one random pattern per sequence is enough.
Shows: a dropped connection is dropped in all heads at once.
Hint: Each head reads on its own. Should all of them lose the same keys?
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
        pattern = self.dropout(torch.ones_like(weights[:, :1]))
        y = self.proj(merge_heads((weights * pattern) @ v))
        return (y, weights) if return_weights else y
