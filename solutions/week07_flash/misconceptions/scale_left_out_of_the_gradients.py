"""Leaves the scale out of the gradients of queries and keys.

Exercise: FlashAttention
Believes: The scale has been used in the weights.
Shows: Both gradients are too large by √d.
Hint: The scores are q·k/√d. What is their derivative with respect to q?
Rejected by: test_head_sizes
Costs: 25 %
"""


def _block_gradients(
    queries, keys, values, grad_output, logsumexp, correction, start, causal
):
    scale = 1.0
    weights = torch.exp(_scores(queries, keys, start, causal) - logsumexp.unsqueeze(-1))
    grad_weights = grad_output @ values.mT
    grad_scores = weights * (grad_weights - correction)
    return scale * grad_scores @ keys, scale * grad_scores.mT @ queries, weights.mT @ grad_output
