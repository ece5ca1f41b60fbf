"""Subtracts half the norm of each vector, not squared.

Exercise: favor_features
Believes: ‖x‖ and ‖x‖² are close enough.
Shows: right only for vectors of length 1 after scaling; the features of all others are off by a factor.
Hint: Compute the exponent of a vector of length 2 by hand, and compare it with yours.
Rejected by: test_values
Costs: 25 %
"""


def favor_features(x, projection):
    scaled = _wide(x) / x.shape[-1] ** 0.25
    norms = scaled.norm(dim=-1, keepdim=True)
    exponents = scaled @ projection.to(scaled.dtype).transpose(0, 1) - norms / 2
    return (torch.exp(exponents) / math.sqrt(len(projection))).to(x.dtype)
