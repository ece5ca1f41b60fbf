"""Saves all attention weights for the backward pass.

Exercise: FlashAttention
Believes: Only the softmax has to go through the keys in blocks.
Shows: Right outputs and gradients; n x m weights are in memory from the forward pass on.
Hint: What takes the most memory between the two passes? The logsumexp is one number per query.
Rejected by: test_no_weights_are_kept
Costs: 45 %
"""


class FlashAttention(FlashAttention):
    @staticmethod
    def forward(ctx, q, k, v, block_size, causal):
        output, logsumexp = _attend(q, k, v, block_size, causal)
        dtype = _wide(q.dtype)
        weights = torch.exp(_scores(q.to(dtype), k.to(dtype), 0, causal) - logsumexp[..., None])
        output = output.to(q.dtype)
        ctx.save_for_backward(q, k, v, output, weights)
        return output

    @staticmethod
    def backward(ctx, grad_output):
        q, k, v, output, weights = ctx.saved_tensors
        dtype = weights.dtype
        grad_output = grad_output.to(dtype)
        correction = (grad_output * output.to(dtype)).sum(dim=-1, keepdim=True)
        grad_weights = grad_output @ v.to(dtype).mT
        grad_scores = weights * (grad_weights - correction) / math.sqrt(q.shape[-1])
        grad_q, grad_k = grad_scores @ k.to(dtype), grad_scores.mT @ q.to(dtype)
        grad_v = weights.mT @ grad_output
        return grad_q.to(q.dtype), grad_k.to(k.dtype), grad_v.to(v.dtype), None, None
