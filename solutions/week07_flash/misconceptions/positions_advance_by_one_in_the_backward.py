"""Lets the position of a block's first key grow by 1 per block in the backward pass.

Exercise: FlashAttention
Believes: The loop counts positions if it adds 1 in each step.
Shows: With causal, the outputs are right and the gradients wrong from the second block on.
Hint: With blocks of 4 keys, at which position does the third block begin, and which position does
    your backward pass use?
Rejected by: test_gradients_causal
Costs: 25 %
Belief: positions_advance_by_one
"""


class FlashAttention(FlashAttention):
    @staticmethod
    def backward(ctx, grad_output):
        q, k, v, output, logsumexp = ctx.saved_tensors
        dtype = _wide(q.dtype)
        queries, grad_output = q.to(dtype), grad_output.to(dtype)
        correction = (grad_output * output.to(dtype)).sum(dim=-1, keepdim=True)
        grad_q = torch.zeros_like(queries)
        grad_k, grad_v = torch.zeros_like(k), torch.zeros_like(v)
        first = 0
        for start in range(0, k.shape[-2], ctx.block_size):
            block = slice(start, start + ctx.block_size)
            keys, values = k[..., block, :].to(dtype), v[..., block, :].to(dtype)
            part_of_grad_q, grad_k[..., block, :], grad_v[..., block, :] = _block_gradients(
                queries, keys, values, grad_output, logsumexp, correction, first, ctx.causal
            )
            grad_q += part_of_grad_q
            first += 1
        return grad_q.to(q.dtype), grad_k, grad_v, None, None
