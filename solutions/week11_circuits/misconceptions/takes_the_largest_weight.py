"""Averages the largest weight of each query.

Exercise: previous_token_score
Believes: A head attends to the key with the largest weight, whichever it is.
Shows: Every sharp head gets a high score.
Hint: Does your score change if all keys move by one?
Rejected by: test_values
Costs: 45 %
"""


def previous_token_score(weights):
    length = weights.shape[-1]
    if length < 2:
        raise ValueError(f"length: {length}")
    return weights[:, :, 1:].amax(dim=-1).mean(dim=(0, 2))
