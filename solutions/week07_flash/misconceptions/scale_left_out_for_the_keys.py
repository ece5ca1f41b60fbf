"""Leaves the gradient of the keys unscaled.

Exercise: FlashAttention
Believes: The scale belongs to the queries.
Shows: The keys' gradient is too large by √d.
Hint: If you scaled the queries beforehand: which queries do you multiply with here?
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
    return scale * grad_scores @ keys, grad_scores.mT @ queries, weights.mT @ grad_output
