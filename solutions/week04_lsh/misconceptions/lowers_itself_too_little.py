"""Lowers the score of a position with itself by less than the docstring requires.

Exercise: lsh_attention
Believes: A thousand is as good as infinity.
Shows: Right for ordinary vectors; very long queries attend to themselves after all.
Hint: How large can the score of a long query with itself be? The docstring names the number that
    was chosen to be safe.
Rejected by: test_long_queries_do_not_attend_to_themselves
Costs: 20 %
"""


def _scores(queries, keys, positions):
    scores = queries @ keys.transpose(-2, -1) / math.sqrt(queries.shape[-1])
    itself = positions == _look_back(positions, nothing=-1).transpose(-2, -1)
    return torch.where(itself, scores - 1e3, scores)
