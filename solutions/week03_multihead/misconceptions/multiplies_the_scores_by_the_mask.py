"""Gives hidden keys the score 0.

Exercise: MultiHeadAttention
Believes: a score of zero means no attention.
Shows: hidden keys get the weight exp(0), often more than visible ones.
Hint: What is exp(0)? Which score would lead to a weight of exactly zero?
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
        weights = _masked_softmax(scores if mask is None else scores * mask)
        return self.W_o(merge_heads(weights @ v)), weights
