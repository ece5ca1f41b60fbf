"""Reshapes the inputs with `view`, which fails unless they are contiguous.

Exercise: FlashAttention
Believes: A tensor's memory order follows its shape.
Shows: An error for transposed or expanded inputs.
Hint: Matrix products take any leading axes; where you must reshape, `reshape` copies if it has to.
Rejected by: test_views
Costs: 20 %
Belief: contiguous_input
"""


class FlashAttention(FlashAttention):
    @staticmethod
    def forward(ctx, q, k, v, block_size, causal):
        flat = [x.view(-1, *x.shape[-2:]) for x in (q, k, v)]
        output, logsumexp = _attend(*flat, block_size, causal)
        output = output.view(*q.shape[:-1], v.shape[-1])
        logsumexp = logsumexp.view(q.shape[:-1])
        output = output.to(q.dtype)
        ctx.save_for_backward(q, k, v, output, logsumexp)
        ctx.block_size, ctx.causal = block_size, causal
        return output
