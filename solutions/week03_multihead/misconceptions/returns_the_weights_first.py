"""Returns the weights before the output.

Exercise: MultiHeadAttention
Believes: the order of the two results is a matter of taste.
Shows: a caller who unpacks the pair gets the weights as the output.
Hint: Read the "Returns" of `forward` again.
Rejected by: test_self_attention
Costs: 20 %
Belief: weights_first
"""

_RightMultiHeadAttention = MultiHeadAttention


class MultiHeadAttention(_RightMultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        output, weights = super().forward(query, key, value, mask)
        return weights, output
