"""Looks at the first two hundred positions.

Exercise: previous_token_score
Believes: No sequence is longer.
Shows: Later queries of long sequences do not count.
Hint: For which lengths does your function read all queries?
Rejected by: test_long_sequences
Costs: 20 %
"""


def previous_token_score(weights):
    length = weights.shape[-1]
    if length < 2:
        raise ValueError(f"length: {length}")
    return weights[:, :, :200, :200].diagonal(-1, dim1=-2, dim2=-1).mean(dim=(0, 2))
