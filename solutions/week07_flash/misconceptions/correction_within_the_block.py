"""Sums weight times gradient over the keys of the block only.

Exercise: FlashAttention
Believes: A block has what its own gradient needs.
Shows: Right if one block contains all keys.
Hint: The softmax runs over the whole row. How can its row sum be known before all blocks have been
    seen? Look at output and its gradient.
Rejected by: test_gradients
Costs: 35 %
"""


def _block_gradients(
    queries, keys, values, grad_output, logsumexp, correction, start, causal
):
    scale = 1 / math.sqrt(queries.shape[-1])
    weights = torch.exp(_scores(queries, keys, start, causal) - logsumexp.unsqueeze(-1))
    grad_weights = grad_output @ values.mT
    grad_scores = weights * (grad_weights - (weights * grad_weights).sum(-1, keepdim=True))
    return scale * grad_scores @ keys, scale * grad_scores.mT @ queries, weights.mT @ grad_output
