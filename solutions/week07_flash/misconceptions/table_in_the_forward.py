"""Computes the forward pass with the full table of scores.

Exercise: FlashAttention
Believes: Only what is kept for the backward pass takes memory.
Shows: Right results, with n x m scores in memory.
Hint: You have written a forward pass without the table.
Rejected by: test_memory_of_the_forward_is_linear
Costs: 40 %
"""


class FlashAttention(FlashAttention):
    @staticmethod
    def forward(ctx, q, k, v, block_size, causal):
        dtype = _wide(q.dtype)
        scores = _scores(q.to(dtype), k.to(dtype), 0, causal)
        output, logsumexp = scores.softmax(-1) @ v.to(dtype), scores.logsumexp(-1)
        output = output.to(q.dtype)
        ctx.save_for_backward(q, k, v, output, logsumexp)
        ctx.block_size, ctx.causal = block_size, causal
        return output
