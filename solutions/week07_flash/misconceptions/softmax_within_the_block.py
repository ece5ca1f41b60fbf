"""Takes a softmax over each block in the backward pass.

Exercise: FlashAttention
Believes: The weights of a block are the softmax of its scores.
Shows: Every block's weights sum to 1; right if one block contains all keys.
Hint: The weights are exp(score - something) with the same something for all blocks. You saved it.
Rejected by: test_gradients
Costs: 35 %
"""


def _block_gradients(
    queries, keys, values, grad_output, logsumexp, correction, start, causal
):
    scale = 1 / math.sqrt(queries.shape[-1])
    weights = _scores(queries, keys, start, causal).softmax(-1).nan_to_num()
    grad_weights = grad_output @ values.mT
    grad_scores = weights * (grad_weights - correction)
    return scale * grad_scores @ keys, scale * grad_scores.mT @ queries, weights.mT @ grad_output
