"""Uses the latest call's logsumexp in every backward pass.

Exercise: FlashAttention
Believes: the function's data can be stored on the function object.
Shows: gradients are right after one call, and wrong after two.
Hint: A network calls it once in each layer before any gradient flows back. Whose logsumexp does the
    backward pass of the first call read?
Rejected by: test_two_calls_before_their_gradients
Costs: 20 %
Belief: kept_with_the_class
"""


class FlashAttention(FlashAttention):
    @staticmethod
    def forward(ctx, q, k, v, block_size, causal):
        output, logsumexp = _attend(q, k, v, block_size, causal)
        output = output.to(q.dtype)
        ctx.save_for_backward(q, k, v, output)
        FlashAttention.logsumexp = logsumexp
        ctx.block_size, ctx.causal = block_size, causal
        return output

    @staticmethod
    def backward(ctx, grad_output):
        q, k, v, output = ctx.saved_tensors
        logsumexp = FlashAttention.logsumexp
        dtype = _wide(q.dtype)
        queries, grad_output = q.to(dtype), grad_output.to(dtype)
        correction = (grad_output * output.to(dtype)).sum(dim=-1, keepdim=True)
        grad_q = torch.zeros_like(queries)
        grad_k, grad_v = torch.zeros_like(k), torch.zeros_like(v)
        for start in range(0, _visible_keys(q, k, ctx.causal), ctx.block_size):
            block = slice(start, start + ctx.block_size)
            keys, values = k[..., block, :].to(dtype), v[..., block, :].to(dtype)
            part, grad_k[..., block, :], grad_v[..., block, :] = _block_gradients(
                queries, keys, values, grad_output, logsumexp, correction, start, ctx.causal
            )
            grad_q += part
        return grad_q.to(q.dtype), grad_k, grad_v, None, None
