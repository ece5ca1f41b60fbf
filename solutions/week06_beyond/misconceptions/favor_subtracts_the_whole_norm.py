"""Subtracts the whole squared norm.

Exercise: favor_features
Believes: the square completes the exponent.
Shows: long vectors have far too small features.
Hint: Which half does the lemma's exponent take, and why does the product of two features need it?
Rejected by: test_values
Costs: 30 %
"""

def favor_features(x, projection):
    scaled = _wide(x) / x.shape[-1] ** 0.25
    exponents = scaled @ projection.to(scaled.dtype).mT - scaled.square().sum(-1, keepdim=True)
    return (exponents.exp() / math.sqrt(len(projection))).to(x.dtype)
