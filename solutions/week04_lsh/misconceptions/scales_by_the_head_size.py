"""Divides the scores by the head size itself.

Exercise: lsh_attention
Believes: The scale is d itself.
Shows: Attention is flatter than it should be.
Hint: Think of the standard deviation of a sum of d terms, not of its variance.
Rejected by: test_one_chunk_is_full_attention
Costs: 20 %
"""


def _scores(queries, keys, positions):
    scores = queries @ keys.transpose(-2, -1) / queries.shape[-1]
    itself = positions == _look_back(positions, nothing=-1).transpose(-2, -1)
    return torch.where(itself, scores - 1e5, scores)
