"""Returns the weights before the output when both are requested.

Exercise: CausalSelfAttention
Believes: the order of the two results is a matter of taste.
Shows: right without the weights; a caller who unpacks the pair gets them as the output.
Hint: Read the "Returns" of `forward` again.
Rejected by: test_returned_weights
Costs: 15 %
Belief: weights_first
"""

_RightCausalSelfAttention = CausalSelfAttention


class CausalSelfAttention(_RightCausalSelfAttention):
    def forward(self, x, return_weights=False):
        y, weights = super().forward(x, return_weights=True)
        return (weights, y) if return_weights else y
