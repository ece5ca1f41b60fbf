"""Computes the gradients in float32 even where the inputs are float64.

Exercise: FlashAttention
Believes: Gradients need no more than float32.
Shows: Seven right digits in float64.
Hint: No less than float32, but no less than the inputs either.
Rejected by: test_float_types
Costs: 15 %
Belief: float32_everywhere
"""


class FlashAttention(FlashAttention):
    @staticmethod
    def backward(ctx, grad_output):
        q, k, v, output, logsumexp = ctx.saved_tensors
        dtype = torch.float32
        queries, grad_output = q.to(dtype), grad_output.to(dtype)
        correction = (grad_output * output.to(dtype)).sum(-1, keepdim=True)
        grad_q, grad_k, grad_v = (torch.zeros_like(x, dtype=dtype) for x in (q, k, v))
        for start in range(0, k.shape[-2], ctx.block_size):
            block = slice(start, start + ctx.block_size)
            keys, values = k[..., block, :].to(dtype), v[..., block, :].to(dtype)
            of_q, of_k, of_v = _block_gradients(
                queries, keys, values, grad_output, logsumexp.float(), correction, start, ctx.causal
            )
            grad_q, grad_k[..., block, :], grad_v[..., block, :] = grad_q + of_q, of_k, of_v
        return grad_q.to(q.dtype), grad_k.to(k.dtype), grad_v.to(v.dtype), None, None
