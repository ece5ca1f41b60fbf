"""Computes scores that are not divided by √d, and divides the heads' outputs by √d.

Exercise: MultiHeadAttention
Believes: dividing by √d anywhere along the way comes to the same.
Shows: the weights are unscaled, the outputs shrunk.
Hint: If every value were 1, what should a weighted mean of them be? What does yours give?
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
        scores = q @ k.transpose(-2, -1)
        weights = _masked_softmax(scores, mask)
        mixed = weights @ v / math.sqrt(q.shape[-1])
        return self.W_o(merge_heads(mixed)), weights
