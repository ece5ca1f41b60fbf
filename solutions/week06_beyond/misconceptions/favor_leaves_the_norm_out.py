"""Leaves the squared norm out of the exponent.

Exercise: favor_features
Believes: exp(w·x') alone is the feature.
Shows: the features are too large, the more the longer the vector; products of features no longer have the mean
    exp(q·k/√d).
Hint: What is the mean of exp(w·x') over normal w? The norm takes just that out.
Rejected by: test_values
Costs: 35 %
"""


def favor_features(x, projection):
    scaled = _wide(x) / x.shape[-1] ** 0.25
    exponents = scaled @ projection.to(scaled.dtype).transpose(0, 1)
    return (torch.exp(exponents) / math.sqrt(len(projection))).to(x.dtype)
