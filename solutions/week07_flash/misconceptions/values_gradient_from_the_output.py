"""Takes the softmax's derivative for the gradient of the values, too.

Exercise: FlashAttention
Believes: All gradients go through the scores.
Shows: The gradient of the values is wrong, the others are right.
Hint: The values come after the softmax: the output is weights times values, nothing more.
Rejected by: test_gradients
Costs: 30 %
"""


def _block_gradients(
    queries, keys, values, grad_output, logsumexp, correction, start, causal
):
    scale = 1 / math.sqrt(queries.shape[-1])
    weights = torch.exp(_scores(queries, keys, start, causal) - logsumexp.unsqueeze(-1))
    grad_weights = grad_output @ values.mT
    grad_scores = weights * (grad_weights - correction)
    of_values = grad_scores.mT @ grad_output
    return scale * grad_scores @ keys, scale * grad_scores.mT @ queries, of_values
