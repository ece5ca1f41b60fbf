"""Divides x by √d, the scale of the scores.

Exercise: favor_features
Believes: the scale of attention is √d, so it is here.
Shows: products of features approximate exp(q·k/d): right for d = 1 only.
Hint: Queries and keys are both scaled, and then multiplied. What is left of the scale in the product?
Rejected by: test_values
Costs: 35 %
"""


def favor_features(x, projection):
    scaled = _wide(x) / x.shape[-1] ** 0.5
    exponents = scaled @ projection.to(scaled.dtype).transpose(0, 1)
    exponents = exponents - scaled.square().sum(dim=-1, keepdim=True) / 2
    return (torch.exp(exponents) / math.sqrt(len(projection))).to(x.dtype)
