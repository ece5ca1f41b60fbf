"""Makes tensors of the backward pass on the CPU.

Exercise: FlashAttention
Believes: New tensors are where the others are.
Shows: An error on a GPU: two devices are mixed.
Hint: torch.zeros_like takes shape, type and device from a tensor.
Rejected by: test_device
Costs: 10 %
"""


class FlashAttention(FlashAttention):
    @staticmethod
    def backward(ctx, grad_output):
        q, k, v, output, logsumexp = ctx.saved_tensors
        dtype = _wide(q.dtype)
        queries, grad_output = q.to(dtype), grad_output.to(dtype)
        correction = (grad_output * output.to(dtype)).sum(-1, keepdim=True)
        grad_q, grad_k, grad_v = (torch.zeros(x.shape, dtype=dtype) for x in (q, k, v))
        for start in range(0, k.shape[-2], ctx.block_size):
            block = slice(start, start + ctx.block_size)
            keys, values = k[..., block, :].to(dtype), v[..., block, :].to(dtype)
            of_q, of_k, of_v = _block_gradients(
                queries, keys, values, grad_output, logsumexp, correction, start, ctx.causal
            )
            grad_q, grad_k[..., block, :], grad_v[..., block, :] = grad_q + of_q, of_k, of_v
        return grad_q.to(q.dtype), grad_k.to(k.dtype), grad_v.to(v.dtype), None, None
