"""Saves the output before it is divided by the sum.

Exercise: FlashAttention
Believes: The division is for the caller.
Shows: The correction is too large by a factor, the sum of the row.
Hint: The correction is computed from the returned output. Save that one.
Rejected by: test_gradients
Costs: 30 %
"""


class FlashAttention(FlashAttention):
    @staticmethod
    def forward(ctx, q, k, v, block_size, causal):
        output, logsumexp = _attend(q, k, v, block_size, causal)
        output = output.to(q.dtype)
        maximum = _scores(q.to(_wide(q.dtype)), k.to(_wide(q.dtype)), 0, causal).amax(-1)
        raw = output * torch.exp(logsumexp - maximum).unsqueeze(-1).to(q.dtype)
        ctx.save_for_backward(q, k, v, raw, logsumexp)
        ctx.block_size, ctx.causal = block_size, causal
        return output
