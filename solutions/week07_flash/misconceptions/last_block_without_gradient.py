"""Leaves out the last, shorter block in the backward pass.

Exercise: FlashAttention
Believes: The number of blocks is m // block_size.
Shows: The last keys and values get the gradient 0.
Hint: With 11 keys and blocks of 4, how many blocks are there? Go through them as in the forward
    pass.
Rejected by: test_gradients_of_short_last_block
Costs: 20 %
"""


class FlashAttention(FlashAttention):
    @staticmethod
    def backward(ctx, grad_output):
        q, k, v, output, logsumexp = ctx.saved_tensors
        dtype = _wide(q.dtype)
        queries, grad_output = q.to(dtype), grad_output.to(dtype)
        correction = (grad_output * output.to(dtype)).sum(-1, keepdim=True)
        grad_q, grad_k, grad_v = (torch.zeros_like(x, dtype=dtype) for x in (q, k, v))
        full = max(ctx.block_size, k.shape[-2] // ctx.block_size * ctx.block_size)
        for start in range(0, full, ctx.block_size):
            block = slice(start, start + ctx.block_size)
            keys, values = k[..., block, :].to(dtype), v[..., block, :].to(dtype)
            of_q, of_k, of_v = _block_gradients(
                queries, keys, values, grad_output, logsumexp, correction, start, ctx.causal
            )
            grad_q, grad_k[..., block, :], grad_v[..., block, :] = grad_q + of_q, of_k, of_v
        return grad_q.to(q.dtype), grad_k.to(k.dtype), grad_v.to(v.dtype), None, None
