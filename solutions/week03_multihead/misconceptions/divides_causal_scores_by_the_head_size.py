"""Divides the scores by the head size itself.

Exercise: CausalSelfAttention
Believes: the scale is d.
Shows: the weights are too flat, and more so the larger the heads.
Hint: The scores are sums of d products. How does their variance grow with d, and how does their
    standard deviation?
Rejected by: test_values
Costs: 25 %
"""


class CausalSelfAttention(CausalSelfAttention):
    def forward(self, x, return_weights=False):
        q, k, v = (split_heads(part, self.n_heads) for part in self.qkv(x).chunk(3, dim=-1))
        scores = q @ k.transpose(-2, -1) / q.shape[-1]
        causal = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool, device=x.device).tril()
        weights = _masked_softmax(scores, causal)
        y = self.proj(merge_heads(self.dropout(weights) @ v))
        return (y, weights) if return_weights else y
