"""Computes the whole table of weights again in the backward pass.

Exercise: FlashAttention
Believes: The backward pass comes once, so it may use memory.
Shows: Right gradients, with n x m weights in memory.
Hint: The forward pass went through blocks of keys. What does the backward pass of one block need,
    and what does it give?
Rejected by: test_memory_of_the_backward_is_linear
Costs: 40 %
"""


class FlashAttention(FlashAttention):
    @staticmethod
    def backward(ctx, grad_output):
        q, k, v, output, logsumexp = ctx.saved_tensors
        dtype = _wide(q.dtype)
        queries, grad_output = q.to(dtype), grad_output.to(dtype)
        correction = (grad_output * output.to(dtype)).sum(-1, keepdim=True)
        grad_q, grad_k, grad_v = (torch.zeros_like(x, dtype=dtype) for x in (q, k, v))
        for start in range(0, k.shape[-2], k.shape[-2]):
            block = slice(start, None)
            keys, values = k[..., block, :].to(dtype), v[..., block, :].to(dtype)
            of_q, of_k, of_v = _block_gradients(
                queries, keys, values, grad_output, logsumexp, correction, start, ctx.causal
            )
            grad_q, grad_k[..., block, :], grad_v[..., block, :] = grad_q + of_q, of_k, of_v
        return grad_q.to(q.dtype), grad_k.to(k.dtype), grad_v.to(v.dtype), None, None
