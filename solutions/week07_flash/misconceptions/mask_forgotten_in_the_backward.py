"""Hides no keys in the backward pass if `causal` is set.

Exercise: FlashAttention
Believes: The logsumexp of the visible keys hides the others.
Shows: With causal, later keys get weights and gradients.
Hint: The logsumexp knows nothing of single keys. Compute the weights again exactly as in the
    forward pass.
Rejected by: test_gradients_causal
Costs: 30 %
"""


def _block_gradients(
    queries, keys, values, grad_output, logsumexp, correction, start, causal
):
    scale = 1 / math.sqrt(queries.shape[-1])
    weights = torch.exp(_scores(queries, keys, start, False) - logsumexp.unsqueeze(-1))
    grad_weights = grad_output @ values.mT
    grad_scores = weights * (grad_weights - correction)
    return scale * grad_scores @ keys, scale * grad_scores.mT @ queries, weights.mT @ grad_output
