"""Fills the future with a number such as -1e9, which float16 cannot represent.

Exercise: CausalSelfAttention
Believes: -1e9 works in every dtype.
Shows: right in float32; float16 refuses the number.
Hint: What is the largest float16? Is there a fill value that follows the dtype of the scores?
Rejected by: test_half_precision
Costs: 15 %
Belief: large_negative_number
"""

_RightCausalSelfAttention = CausalSelfAttention


class CausalSelfAttention(_RightCausalSelfAttention):
    def forward(self, x, return_weights=False):
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        q, k, v = (split_heads(part, self.n_heads) for part in (q, k, v))
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
        tokens = x.shape[1]
        causal = torch.ones(tokens, tokens, dtype=torch.bool, device=x.device).tril()
        weights = torch.softmax(scores.masked_fill(~causal, -1e9), dim=-1)
        y = self.proj(merge_heads(self.dropout(weights) @ v))
        return (y, weights) if return_weights else y
