"""Lowers the score of a position with itself by next to nothing.

Exercise: lsh_attention
Believes: A small penalty breaks the tie.
Shows: Self-attention is practically as strong as without a penalty.
Hint: By how much does your code lower it? Compare that with the docstring, down to the sign of the
exponent.
Rejected by: test_itself_comes_last
Costs: 20 %
"""


def _scores(queries, keys, positions):
    scores = queries @ keys.transpose(-2, -1) / math.sqrt(queries.shape[-1])
    itself = positions == _look_back(positions, nothing=-1).transpose(-2, -1)
    return torch.where(itself, scores - 1e-5, scores)
