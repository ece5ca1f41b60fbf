"""Computes attention with the full matrix of scores and leaves the backward pass to autograd.

Exercise: FlashAttention
Believes: Attention is done when its values and gradients are right.
Shows: Right values and gradients; the n x m scores and weights are kept for the backward pass.
Hint: This is the attention of week 1. Which two things should a custom `forward` and `backward`
    avoid keeping in memory?
Rejected by: test_memory_of_the_forward_is_linear
Costs: 90 %
"""


class FlashAttention:
    @staticmethod
    def apply(q, k, v, block_size, causal):
        dtype = _wide(q.dtype)
        scores = q.to(dtype) @ k.to(dtype).transpose(-2, -1) / math.sqrt(q.shape[-1])
        if causal:
            later = torch.ones(q.shape[-2], k.shape[-2], dtype=torch.bool, device=q.device).triu(1)
            scores = scores.masked_fill(later, -torch.inf)
        return (scores.softmax(-1) @ v.to(dtype)).to(q.dtype)
