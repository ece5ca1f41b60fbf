"""Averages the product of output and gradient over the features of a value.

Exercise: FlashAttention
Believes: The mean is as good as the sum, because it differs by a factor only.
Shows: The gradients of queries and keys are wrong; that of the values is right.
Hint: If all values of the sequence are equal, the scores change no output. Is your gradient of the
    scores 0 then?
Rejected by: test_gradients
Costs: 25 %
"""


class FlashAttention(FlashAttention):
    @staticmethod
    def backward(ctx, grad_output):
        q, k, v, output, logsumexp = ctx.saved_tensors
        dtype = _wide(q.dtype)
        queries, grad_output = q.to(dtype), grad_output.to(dtype)
        correction = (grad_output * output.to(dtype)).mean(dim=-1, keepdim=True)
        grad_q = torch.zeros_like(queries)
        grad_k, grad_v = torch.zeros_like(k), torch.zeros_like(v)
        for start in range(0, _visible_keys(q, k, ctx.causal), ctx.block_size):
            block = slice(start, start + ctx.block_size)
            keys, values = k[..., block, :].to(dtype), v[..., block, :].to(dtype)
            part_of_grad_q, grad_k[..., block, :], grad_v[..., block, :] = _block_gradients(
                queries, keys, values, grad_output, logsumexp, correction, start, ctx.causal
            )
            grad_q += part_of_grad_q
        return grad_q.to(q.dtype), grad_k, grad_v, None, None
