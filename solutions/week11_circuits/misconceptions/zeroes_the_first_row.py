"""Changes the attention weights.

Exercise: previous_token_score
Believes: The caller does not need the weights any more.
Shows: The argument differs after the call.
Hint: Print the weights before and after the call.
Rejected by: test_views
Costs: 20 %
"""


def previous_token_score(weights):
    length = weights.shape[-1]
    if length < 2:
        raise ValueError(f"length: {length}")
    weights[:, :, 0] = 0
    return weights.diagonal(-1, dim1=-2, dim2=-1).mean(dim=(0, 2))
