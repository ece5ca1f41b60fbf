"""Lets the position of a block's first key grow by 1 per block in both passes.

Exercise: FlashAttention
Believes: The loop counts positions if it adds 1 in each step.
Shows: With causal, outputs and gradients are wrong from the second block on.
Hint: With blocks of 4 keys, at which position does the third block begin, and which position does
    your code use?
Rejected by: test_causal_values
Costs: 25 %
Belief: positions_advance_by_one
"""


class FlashAttention(FlashAttention):
    @staticmethod
    def forward(ctx, q, k, v, block_size, causal):
        dtype = _wide(q.dtype)
        queries = q.to(dtype)
        maximum = torch.full_like(queries[..., :1], -torch.inf)
        total = torch.zeros_like(maximum)
        output = queries.new_zeros(*q.shape[:-1], v.shape[-1])
        first = 0
        for start in range(0, k.shape[-2], block_size):
            block = slice(start, start + block_size)
            scores = _scores(queries, k[..., block, :].to(dtype), first, causal)
            new_maximum = torch.maximum(maximum, scores.amax(dim=-1, keepdim=True))
            shift = _finite(new_maximum)
            rescale = torch.exp(maximum - shift)
            weights = torch.exp(scores - shift)
            total = total * rescale + weights.sum(dim=-1, keepdim=True)
            output = output * rescale + weights @ v[..., block, :].to(dtype)
            maximum = new_maximum
            first += 1
        output = (output / total.masked_fill(total == 0, 1.0)).to(q.dtype)
        ctx.save_for_backward(q, k, v, output, (maximum + torch.log(total)).squeeze(-1))
        ctx.block_size, ctx.causal = block_size, causal
        return output

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
