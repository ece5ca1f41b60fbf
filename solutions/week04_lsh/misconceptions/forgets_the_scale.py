"""Computes scores that are not divided by √d.

Exercise: lsh_attention
Believes: Unit keys make the scale unnecessary.
Shows: Attention is sharper than it should be.
Hint: Compare your scores with the formula in the docstring; only the keys have unit length.
Rejected by: test_one_chunk_is_full_attention
Costs: 25 %
"""


def _scores(queries, keys, positions):
    scores = queries @ keys.transpose(-2, -1)
    itself = positions == _look_back(positions, nothing=-1).transpose(-2, -1)
    return torch.where(itself, scores - 1e5, scores)
