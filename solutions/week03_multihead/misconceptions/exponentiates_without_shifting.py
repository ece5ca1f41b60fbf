"""Exponentiates the raw scores and divides by the sum.

Exercise: MultiHeadAttention
Believes: the textbook formula can be typed literally.
Shows: right for small scores; large ones overflow to inf / inf = NaN.
Hint: What is exp(100) in float32? Week 1 had a cure that changes nothing else.
Rejected by: test_large_scores
Costs: 20 %
"""

_RightMultiHeadAttention = MultiHeadAttention


class MultiHeadAttention(_RightMultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        if mask is not None and mask.dim() == 3:
            raise ValueError(f"a mask of shape {tuple(mask.shape)} has {mask.dim()} dimensions")
        q = split_heads(self.W_q(query), self.num_heads)
        k = split_heads(self.W_k(key), self.num_heads)
        v = split_heads(self.W_v(value), self.num_heads)
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
        powers = torch.exp(scores)
        if mask is not None:
            powers = powers * mask
        weights = powers / powers.sum(dim=-1, keepdim=True).clamp_min(1e-30)
        return self.W_o(merge_heads(weights @ v)), weights
