"""Leaves the gradient of the queries unscaled.

Exercise: FlashAttention
Believes: The saved queries contain the scale, so no gradient needs it again.
Shows: The queries' gradient is too large by √d; the keys' gradient is right.
Hint: If you saved scaled queries, you computed their gradient. How does the gradient of q follow?
Rejected by: test_gradients
Costs: 20 %
"""


def _block_gradients(
    queries, keys, values, grad_output, logsumexp, correction, start, causal
):
    scale = 1 / math.sqrt(queries.shape[-1])
    weights = torch.exp(_scores(queries, keys, start, causal) - logsumexp.unsqueeze(-1))
    grad_weights = grad_output @ values.mT
    grad_scores = weights * (grad_weights - correction)
    return grad_scores @ keys, grad_scores.mT @ (scale * queries), weights.mT @ grad_output
