"""Returns gradients of zero in the backward pass.

Exercise: FlashAttention
Believes: The shapes of the gradients are what counts.
Shows: Right values; nothing upstream of the attention learns.
Hint: By how much does the output change if you change one key a little?
Rejected by: test_gradients
Costs: 45 %
"""


class FlashAttention(FlashAttention):
    @staticmethod
    def backward(ctx, grad_output):
        q, k, v, *_ = ctx.saved_tensors
        return torch.zeros_like(q), torch.zeros_like(k), torch.zeros_like(v), None, None
