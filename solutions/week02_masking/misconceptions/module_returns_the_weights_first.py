"""Returns the weights before the output.

Exercise: SelfAttention
Believes: the order of the two results is a matter of taste.
Shows: a caller who unpacks the pair gets the weights as the output.
Hint: Read the "Returns" of `forward` again.
Rejected by: test_values
Costs: 20 %
Belief: weights_first
"""

_RightSelfAttention = SelfAttention


class SelfAttention(_RightSelfAttention):
    def forward(self, x, mask=None):
        output, weights = scaled_dot_product_attention(
            self.W_q(x), self.W_k(x), self.W_v(x), mask
        )
        return weights, output
