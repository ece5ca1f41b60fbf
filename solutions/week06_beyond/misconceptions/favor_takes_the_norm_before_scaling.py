"""Subtracts half the squared norm of x as it was before scaling.

Exercise: favor_features
Believes: the norm is that of the input.
Shows: long vectors get features that are far too small.
Hint: In the lemma both terms of the exponent contain the same vector. Which one do you multiply
    with w?
Rejected by: test_values
Costs: 30 %
"""


def favor_features(x, projection):
    wide = _wide(x)
    exponents = wide / x.shape[-1] ** 0.25 @ projection.to(wide.dtype).transpose(0, 1)
    exponents = exponents - wide.square().sum(dim=-1, keepdim=True) / 2
    return (torch.exp(exponents) / math.sqrt(len(projection))).to(x.dtype)
