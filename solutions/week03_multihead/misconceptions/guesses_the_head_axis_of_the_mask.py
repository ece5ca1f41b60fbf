"""Inserts a head axis into a mask of three dimensions.

Exercise: MultiHeadAttention
Believes: (B, n, m) is the only thing three dimensions can mean.
Shows: a guess instead of the required ValueError; (H, n, m) would be misread.
Hint: Three dimensions could also be (H, n, m). What does the docstring require if a mask is
    ambiguous?
Rejected by: test_refuses_a_mask_of_three_dimensions
Costs: 15 %
Belief: mask_without_heads
"""

_RightMultiHeadAttention = MultiHeadAttention


class MultiHeadAttention(_RightMultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        if mask is not None and mask.dim() == 3:
            mask = mask.unsqueeze(1)
        q = split_heads(self.W_q(query), self.num_heads)
        k = split_heads(self.W_k(key), self.num_heads)
        v = split_heads(self.W_v(value), self.num_heads)
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
        weights = _masked_softmax(scores, mask)
        return self.W_o(merge_heads(weights @ v)), weights
