"""Multiplies x by the fourth root of d.

Exercise: favor_features
Believes: d**-0.25 is the fourth root, and one divides by it.
Shows: the scaled vectors are longer than x instead of shorter, and the features far too small or
    too large.
Hint: For d = 16, are your vectors shorter or longer than x after the scaling? By what factor?
Rejected by: test_values
Costs: 30 %
"""

def favor_features(x, projection):
    scaled = _wide(x) / x.shape[-1] ** -0.25
    exponents = scaled @ projection.to(scaled.dtype).mT - scaled.square().sum(-1, keepdim=True) / 2
    return (exponents.exp() / math.sqrt(len(projection))).to(x.dtype)
