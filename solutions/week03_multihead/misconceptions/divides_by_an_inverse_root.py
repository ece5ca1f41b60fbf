"""Multiplies the scores by the root of the head size.

Exercise: MultiHeadAttention
Believes: d**-0.5 is the root, and one divides by the root.
Shows: scores are d times as large as they should be, and the weights almost one-hot.
Hint: How large are the scores before and after your scale? Should it make them larger?
Rejected by: test_self_attention
Costs: 30 %
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
        scores = q @ k.transpose(-2, -1) / q.shape[-1] ** -0.5
        weights = _masked_softmax(scores, mask)
        return self.W_o(merge_heads(weights @ v)), weights
