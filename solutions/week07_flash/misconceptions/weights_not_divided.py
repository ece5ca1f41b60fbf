"""Computes the weights again with the maximum alone, without dividing by the sum.

Exercise: FlashAttention
Believes: exp(score - maximum) is the weight.
Shows: The weights of the backward pass sum to more than 1.
Hint: maximum and sum together make the logsumexp. Which of the two is missing?
Rejected by: test_gradients
Costs: 30 %
"""


class FlashAttention(FlashAttention):
    @staticmethod
    def forward(ctx, q, k, v, block_size, causal):
        output, logsumexp = _attend(q, k, v, block_size, causal)
        output = output.to(q.dtype)
        wide = _wide(q.dtype)
        maximum = _scores(q.to(wide), k.to(wide), 0, causal).amax(-1)
        ctx.save_for_backward(q, k, v, output, maximum)
        ctx.block_size, ctx.causal = block_size, causal
        return output
