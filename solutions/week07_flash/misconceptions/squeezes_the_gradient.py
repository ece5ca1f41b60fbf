"""Squeezes axes of size 1 out of the gradient that comes in.

Exercise: FlashAttention
Believes: an axis of one entry contains no information.
Shows: with a single query an error, or gradients that broadcasting has mixed up.
Hint: Which shape does the gradient of the output have if there is one query? Which shape did the
    output have?
Rejected by: test_gradients_of_single_positions
Costs: 20 %
"""

_backward = FlashAttention.backward


class FlashAttention(FlashAttention):
    @staticmethod
    def backward(ctx, grad_output):
        return _backward(ctx, grad_output.squeeze(-2))
