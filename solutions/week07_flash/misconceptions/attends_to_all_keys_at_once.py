"""Computes the output for a few queries at a time, each with an ordinary softmax over all keys.

Exercise: FlashAttention
Believes: A table of scores for a few queries is small, so an ordinary softmax does.
Shows: The right values and gradients in linear memory. But a row of scores is as long as there are keys, and nothing
    is ever rescaled.
Hint: `block_size` is a number of keys. What do you need to remember of the earlier keys when the next block comes?
Rejected by: test_keys_come_in_blocks
Costs: 40 %
Belief: queries_in_blocks
"""


class FlashAttention(torch.autograd.Function):
    @staticmethod
    def forward(ctx, q, k, v, block_size, causal):
        dtype = _wide(q.dtype)
        outputs, logsumexps = [], []
        for start in range(0, q.shape[-2], 8):
            queries = q[..., start : start + 8, :].to(dtype)
            scores = queries @ k.to(dtype).transpose(-2, -1) / math.sqrt(q.shape[-1])
            if causal:
                positions = start + torch.arange(queries.shape[-2], device=q.device)
                later = torch.arange(k.shape[-2], device=q.device) > positions[:, None]
                scores = scores.masked_fill(later, -torch.inf)
            outputs.append(torch.softmax(scores, dim=-1) @ v.to(dtype))
            logsumexps.append(torch.logsumexp(scores, dim=-1))
        output = torch.cat(outputs, dim=-2).to(q.dtype)
        ctx.save_for_backward(q, k, v, output, torch.cat(logsumexps, dim=-1))
        ctx.block_size, ctx.causal = block_size, causal
        return output

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        q, k, v, output, logsumexp = ctx.saved_tensors
        dtype = _wide(q.dtype)
        queries, grad_output = q.to(dtype), grad_output.to(dtype)
        correction = (grad_output * output.to(dtype)).sum(dim=-1, keepdim=True)
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
