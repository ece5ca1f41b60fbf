"""Returns None for every input in the backward pass.

Exercise: FlashAttention
Believes: A backward pass has to exist, and autograd does the rest.
Shows: Right values; queries, keys and values get no gradient.
Hint: What does None mean for an input of `forward`, and which inputs does it suit?
Rejected by: test_gradients
Costs: 45 %
"""


class FlashAttention(FlashAttention):
    @staticmethod
    def backward(ctx, grad_output):
        return None, None, None, None, None
