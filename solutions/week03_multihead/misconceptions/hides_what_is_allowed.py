"""Reads True in the mask as 'hidden'.

Exercise: MultiHeadAttention
Believes: a mask marks what is to be masked out, as in PyTorch's own module.
Shows: each query sees exactly the keys it should not see.
Hint: Conventions differ between libraries. Which one do this course's conventions name?
Rejected by: test_mask_of_two_dimensions
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
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
        weights = _masked_softmax(scores, None if mask is None else ~mask)
        return self.W_o(merge_heads(weights @ v)), weights
