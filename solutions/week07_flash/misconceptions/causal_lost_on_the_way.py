"""Hides no keys in the forward pass if `causal` is set.

Exercise: FlashAttention
Believes: Causal matters in the backward pass.
Shows: Queries see later keys.
Hint: Follow the argument from apply. Which keys does your forward pass hide from query 0?
Rejected by: test_causal_values
Costs: 25 %
Belief: causal_lost
"""


class FlashAttention(FlashAttention):
    @staticmethod
    def forward(ctx, q, k, v, block_size, causal):
        output, logsumexp = _attend(q, k, v, block_size, False)
        output = output.to(q.dtype)
        ctx.save_for_backward(q, k, v, output, logsumexp)
        ctx.block_size, ctx.causal = block_size, causal
        return output
