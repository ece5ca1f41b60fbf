"""Divides the scores by the head size itself.

Exercise: MultiHeadAttention
Believes: the scale is d.
Shows: the weights are too flat, and more so the larger the heads.
Hint: Variance and standard deviation differ by a square root. Which of the two brings the scores back to size one?
Rejected by: test_self_attention
Costs: 25 %
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
        scores = q @ k.transpose(-2, -1) / q.shape[-1]
        weights = _masked_softmax(scores, mask)
        return self.W_o(merge_heads(weights @ v)), weights
