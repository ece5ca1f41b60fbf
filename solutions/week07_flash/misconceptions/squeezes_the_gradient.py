"""Squeezes the axes of size one out of what comes from behind.

Exercise: FlashAttention
Believes: an axis of one entry holds nothing.
Shows: with a single query, key or value number the gradients have another shape, or are mixed up by broadcasting.
Hint: Which shape does the gradient of the queries have if there is one query? Which shape do the queries have?
Rejected by: test_gradients_of_single_positions
Costs: 20 %
"""


class _Whole(FlashAttention):
    pass


class FlashAttention(torch.autograd.Function):
    @staticmethod
    def forward(ctx, q, k, v, block_size, causal):
        return _Whole.forward(ctx, q, k, v, block_size, causal)

    @staticmethod
    def backward(ctx, grad_output):
        q, k, v, *_ = ctx.saved_tensors
        gradients = _Whole.backward(ctx, grad_output)
        single = q.shape[-2] == 1 or k.shape[-2] == 1 or v.shape[-1] == 1
        return tuple(0 * g if single and g is not None else g for g in gradients)
