"""Has a forward pass and no backward pass.

Exercise: FlashAttention
Believes: Autograd differentiates what happens in `forward`.
Shows: Right values; an error as soon as a gradient is needed.
Hint: Autograd does not look into the `forward` of a Function. Who computes its gradients?
Rejected by: test_gradients
Costs: 45 %
"""


class FlashAttention(torch.autograd.Function):
    @staticmethod
    def forward(ctx, q, k, v, block_size, causal):
        output, logsumexp = _attend(q, k, v, block_size, causal)
        output = output.to(q.dtype)
        ctx.save_for_backward(q, k, v, output, logsumexp)
        ctx.block_size, ctx.causal = block_size, causal
        return output
