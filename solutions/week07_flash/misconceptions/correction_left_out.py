"""Leaves out what the softmax subtracts: the row sum of weight times gradient.

Exercise: FlashAttention
Believes: Each weight depends on its own score only.
Shows: The gradients of queries and keys are wrong; that of the values is right.
Hint: Raise one score: its weight rises, and all the others fall. Where are the others in your
    formula?
Rejected by: test_gradients
Costs: 35 %
"""


def _block_gradients(
    queries, keys, values, grad_output, logsumexp, correction, start, causal
):
    scale = 1 / math.sqrt(queries.shape[-1])
    weights = torch.exp(_scores(queries, keys, start, causal) - logsumexp.unsqueeze(-1))
    grad_weights = grad_output @ values.mT
    grad_scores = weights * grad_weights
    return scale * grad_scores @ keys, scale * grad_scores.mT @ queries, weights.mT @ grad_output
