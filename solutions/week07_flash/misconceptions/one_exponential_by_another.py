"""Divides exp(score) by exp(logsumexp).

Exercise: FlashAttention
Believes: A quotient of exponentials is the same as the exponential of a difference.
Shows: Right for ordinary scores; NaN or 0 in the gradients of large ones.
Hint: On paper they are the same. Which of the two stays finite when both numbers are 1000?
Rejected by: test_gradients_of_large_scores
Costs: 25 %
"""


def _block_gradients(
    queries, keys, values, grad_output, logsumexp, correction, start, causal
):
    scale = 1 / math.sqrt(queries.shape[-1])
    weights = _scores(queries, keys, start, causal).exp() / logsumexp.unsqueeze(-1).exp()
    grad_weights = grad_output @ values.mT
    grad_scores = weights * (grad_weights - correction)
    return scale * grad_scores @ keys, scale * grad_scores.mT @ queries, weights.mT @ grad_output
