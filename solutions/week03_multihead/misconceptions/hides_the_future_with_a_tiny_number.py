"""Gives hidden entries a score of 0, or one very close to it.

Exercise: CausalSelfAttention
Believes: a number close to zero hides an entry.
Shows: hidden entries get the weight of a score of 0.
Hint: What is the exponential of the score that your hidden entries get? Which scores become weights
of 0?
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
