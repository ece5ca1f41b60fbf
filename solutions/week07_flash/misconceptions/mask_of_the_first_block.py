"""Compares positions within the block in the backward pass.

Exercise: FlashAttention
Believes: The mask of a block is a triangle.
Shows: With causal, gradients of later blocks are wrong.
Hint: The block begins somewhere. Does the backward pass know where?
Rejected by: test_gradients_causal
Costs: 25 %
Belief: causal_within_the_block
"""


def _block_gradients(
    queries, keys, values, grad_output, logsumexp, correction, start, causal
):
    scale = 1 / math.sqrt(queries.shape[-1])
    weights = torch.exp(_scores(queries, keys, 0, causal) - logsumexp.unsqueeze(-1))
    grad_weights = grad_output @ values.mT
    grad_scores = weights * (grad_weights - correction)
    return scale * grad_scores @ keys, scale * grad_scores.mT @ queries, weights.mT @ grad_output
