"""Lowers the score of a position with itself by only 1e-5.

Exercise: lsh_attention
Believes: A small penalty breaks the tie.
Shows: Self-attention is practically as strong as without a penalty.
Hint: Mind the sign of the exponent.
Rejected by: test_itself_comes_last
Costs: 20 %
"""


def _scores(queries, keys, positions):
    scores = queries @ keys.transpose(-2, -1) / math.sqrt(queries.shape[-1])
    itself = positions == _look_back(positions, nothing=-1).transpose(-2, -1)
    return torch.where(itself, scores - 1e-5, scores)
