"""Uses the incoming gradient, multiplied by the output, also after the correction.

Exercise: FlashAttention
Believes: The incoming gradient belongs to backward.
Shows: The correction is right; everything that needs the gradient afterwards is not.
Hint: What does the variable with the incoming gradient contain after the correction has been
    computed? What do you still need it for?
Rejected by: test_gradients
Costs: 20 %
"""


class FlashAttention(FlashAttention):
    @staticmethod
    def backward(ctx, grad_output):
        q, k, v, output, logsumexp = ctx.saved_tensors
        dtype = _wide(q.dtype)
        queries, grad_output = q.to(dtype), grad_output.to(dtype, copy=True)
        correction = grad_output.mul_(output.to(dtype)).sum(-1, keepdim=True)
        grad_q, grad_k, grad_v = (torch.zeros_like(x, dtype=dtype) for x in (q, k, v))
        for start in range(0, k.shape[-2], ctx.block_size):
            block = slice(start, start + ctx.block_size)
            keys, values = k[..., block, :].to(dtype), v[..., block, :].to(dtype)
            of_q, of_k, of_v = _block_gradients(
                queries, keys, values, grad_output, logsumexp, correction, start, ctx.causal
            )
            grad_q, grad_k[..., block, :], grad_v[..., block, :] = grad_q + of_q, of_k, of_v
        return grad_q.to(q.dtype), grad_k.to(k.dtype), grad_v.to(v.dtype), None, None
