"""Subtracts the largest exponent of every vector and adds a small number to the features.

Exercise: favor_features
Believes: what keeps an implementation stable belongs to the features.
Shows: the features lose their size against each other, and none can be small.
Hint: The formula has one exponential and one root. What else does your code do to a feature, and
    what does that do to a key?
Rejected by: test_values
Costs: 40 %
"""


def favor_features(x, projection):
    exponents = _exponents(x, projection)
    scaled = _wide(x) / x.shape[-1] ** 0.25
    products = scaled @ projection.to(scaled.dtype).transpose(0, 1)
    exponents = exponents - products.amax(dim=-1, keepdim=True)
    return ((torch.exp(exponents) + 1e-4) / math.sqrt(len(projection))).to(x.dtype)
