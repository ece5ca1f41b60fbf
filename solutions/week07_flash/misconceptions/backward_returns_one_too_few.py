"""Returns one value fewer from backward than forward has arguments.

Exercise: FlashAttention
Believes: backward answers for the tensors only.
Shows: outputs are right; every call of backward() fails.
Hint: Count the arguments of `forward` after `ctx`. Which of them have no gradient, and what is
    returned in their place?
Rejected by: test_gradients
Costs: 35 %
"""


_Right = FlashAttention


class FlashAttention(_Right):
    @staticmethod
    def backward(ctx, grad_output):
        return _Right.backward(ctx, grad_output)[:4]
