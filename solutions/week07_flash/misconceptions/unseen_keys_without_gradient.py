"""Stops at the last visible block, and returns gradients for those blocks only.

Exercise: FlashAttention
Believes: Keys that no query sees need no gradient.
Shows: An error about the shape of a gradient, where there are more keys than queries.
Hint: A gradient has the shape of its input. What is the gradient of a key that no query sees?
Rejected by: test_gradients_causal_with_more_keys_or_queries
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
        for start in range(0, k.shape[-2], ctx.block_size):
            block = slice(start, start + ctx.block_size)
            keys, values = k[..., block, :].to(dtype), v[..., block, :].to(dtype)
            of_q, of_k, of_v = _block_gradients(
                queries, keys, values, grad_output, logsumexp, correction, start, ctx.causal
            )
            grad_q, grad_k[..., block, :], grad_v[..., block, :] = grad_q + of_q, of_k, of_v
        seen = -(-_visible_keys(q, k, ctx.causal) // ctx.block_size) * ctx.block_size
        grad_k, grad_v = grad_k[..., :seen, :], grad_v[..., :seen, :]
        return grad_q.to(q.dtype), grad_k.to(k.dtype), grad_v.to(v.dtype), None, None
