"""Computes q·k/d as the scores, in both passes.

Exercise: FlashAttention
Believes: The scale is d.
Shows: The weights are too flat, the more so the larger d is.
Hint: The scores are sums of d products. How does their standard deviation grow with d?
Rejected by: test_values
Costs: 25 %
"""


class FlashAttention(FlashAttention):
    @staticmethod
    def forward(ctx, q, k, v, block_size, causal):
        ctx.scale = q.shape[-1] ** -0.5
        return super(FlashAttention, FlashAttention).forward(
            ctx, q * ctx.scale, k, v, block_size, causal
        )

    @staticmethod
    def backward(ctx, grad_output):
        grad_q, *rest = super(FlashAttention, FlashAttention).backward(ctx, grad_output)
        return grad_q * ctx.scale, *rest
