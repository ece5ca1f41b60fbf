"""Divides by d**-0.25, which multiplies by the fourth root.

Exercise: favor_features
Believes: d**-0.25 is the fourth root, and one divides by it.
Shows: the scaled vectors are longer than x instead of shorter, and the features far too small or
    too large.
Hint: What is 1 / d**-0.25? Are your vectors shorter or longer afterwards?
Rejected by: test_values
Costs: 30 %
"""

def favor_features(x, projection):
    scaled = _wide(x) / x.shape[-1] ** -0.25
    exponents = scaled @ projection.to(scaled.dtype).mT - scaled.square().sum(-1, keepdim=True) / 2
    return (exponents.exp() / math.sqrt(len(projection))).to(x.dtype)
