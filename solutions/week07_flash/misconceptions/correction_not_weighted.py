"""Subtracts the correction from weight times gradient.

Exercise: FlashAttention
Believes: weight * gradient - correction is the same with fewer brackets.
Shows: The gradients of queries and keys are wrong, also at keys that hardly get any weight.
Hint: The gradient of a score is its weight times a difference. Where does the bracket go?
Rejected by: test_gradients
Costs: 30 %
"""


def _block_gradients(
    queries, keys, values, grad_output, logsumexp, correction, start, causal
):
    scale = 1 / math.sqrt(queries.shape[-1])
    weights = torch.exp(_scores(queries, keys, start, causal) - logsumexp.unsqueeze(-1))
    grad_weights = grad_output @ values.mT
    grad_scores = weights * grad_weights - correction
    return scale * grad_scores @ keys, scale * grad_scores.mT @ queries, weights.mT @ grad_output
