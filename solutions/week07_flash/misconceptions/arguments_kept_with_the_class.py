"""Uses the latest call's `causal` in every backward pass.

Exercise: FlashAttention
Believes: the function's data can be stored on the function object.
Shows: gradients are right after one call, and wrong after two that differ in causal.
Hint: A network calls it once in each layer before any gradient flows back. With which arguments was
    the call made whose backward pass runs?
Rejected by: test_two_calls_before_their_gradients
Costs: 20 %
Belief: kept_with_the_class
"""


class FlashAttention(FlashAttention):
    @staticmethod
    def forward(ctx, q, k, v, block_size, causal):
        output, logsumexp = _attend(q, k, v, block_size, causal)
        output = output.to(q.dtype)
        ctx.save_for_backward(q, k, v, output, logsumexp)
        FlashAttention.block_size, FlashAttention.causal = block_size, causal
        return output

    @staticmethod
    def backward(ctx, grad_output):
        q, k, v, output, logsumexp = ctx.saved_tensors
        dtype = _wide(q.dtype)
        queries, grad_output = q.to(dtype), grad_output.to(dtype)
        correction = (grad_output * output.to(dtype)).sum(dim=-1, keepdim=True)
        grad_q = torch.zeros_like(queries)
        grad_k, grad_v = torch.zeros_like(k), torch.zeros_like(v)
        for start in range(0, _visible_keys(q, k, FlashAttention.causal), FlashAttention.block_size):
            block = slice(start, start + FlashAttention.block_size)
            keys, values = k[..., block, :].to(dtype), v[..., block, :].to(dtype)
            part, grad_k[..., block, :], grad_v[..., block, :] = _block_gradients(
                queries, keys, values, grad_output, logsumexp, correction, start, FlashAttention.causal
            )
            grad_q += part
        return grad_q.to(q.dtype), grad_k, grad_v, None, None
