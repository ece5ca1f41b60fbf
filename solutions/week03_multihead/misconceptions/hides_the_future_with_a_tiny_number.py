"""Hides entries with a score of -1e-12.

Exercise: CausalSelfAttention
Believes: a number close to zero hides an entry.
Shows: hidden entries get the weight of a score of 0.
Hint: What is exp(-1e-12)? Which scores become weights of 0?
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
        causal = torch.ones(tokens, tokens, dtype=torch.bool, device=x.device).tril()
        weights = torch.softmax(scores.masked_fill(~causal, -1e-12), dim=-1)
        y = self.proj(merge_heads(self.dropout(weights) @ v))
        return (y, weights) if return_weights else y
