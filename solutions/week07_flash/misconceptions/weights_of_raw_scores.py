"""Computes the weights again from scores without their scale.

Exercise: FlashAttention
Believes: The logsumexp takes care of the scale.
Shows: The weights of the backward pass do not sum to 1.
Hint: Forward and backward must compute the same scores. Could they share a function?
Rejected by: test_gradients
Costs: 30 %
"""


def _block_gradients(
    queries, keys, values, grad_output, logsumexp, correction, start, causal
):
    scale = 1 / math.sqrt(queries.shape[-1])
    weights = torch.exp(_scores(queries, keys, start, causal) / scale - logsumexp.unsqueeze(-1))
    grad_weights = grad_output @ values.mT
    grad_scores = weights * (grad_weights - correction)
    return scale * grad_scores @ keys, scale * grad_scores.mT @ queries, weights.mT @ grad_output
