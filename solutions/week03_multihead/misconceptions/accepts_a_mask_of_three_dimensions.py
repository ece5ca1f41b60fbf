"""Lets a mask (B, n, m) through, and broadcasting takes its first axis for the heads.

Exercise: MultiHeadAttention
Believes: broadcasting would complain if the shapes did not fit.
Shows: an error about shapes, or, where B = H, the wrong sequence's mask on every head and no error at all.
Hint: Write (B, n, m) under (B, H, n, m), aligned at the right. Which axis does B land on?
Rejected by: test_refuses_a_mask_of_three_dimensions
Costs: 15 %
Belief: mask_without_heads
"""

_RightMultiHeadAttention = MultiHeadAttention


class MultiHeadAttention(_RightMultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        q = split_heads(self.W_q(query), self.num_heads)
        k = split_heads(self.W_k(key), self.num_heads)
        v = split_heads(self.W_v(value), self.num_heads)
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
        weights = _masked_softmax(scores, mask)
        return self.W_o(merge_heads(weights @ v)), weights
