"""Returns the logsumexp in addition to the output.

Exercise: FlashAttention
Believes: FlashAttention returns what tiled_attention returns.
Shows: Two results instead of one, and a backward pass that receives two gradients.
Hint: apply gives the output alone; the logsumexp travels to the backward pass by ctx.
Rejected by: test_values
Costs: 15 %
"""


class FlashAttention(FlashAttention):
    @staticmethod
    def forward(ctx, q, k, v, block_size, causal):
        output, logsumexp = _attend(q, k, v, block_size, causal)
        output = output.to(q.dtype)
        ctx.save_for_backward(q, k, v, output, logsumexp)
        ctx.block_size, ctx.causal = block_size, causal
        return output, logsumexp.to(q.dtype)
