"""Does not scale the features by their number.

Exercise: favor_features
Believes: the sum over the features is the kernel.
Shows: products of features are r times too large.
Hint: Each feature guesses the kernel once. Does φ(q)·φ(k) add the guesses up, or take their mean?
Rejected by: test_values
Costs: 25 %
"""


def favor_features(x, projection):
    return torch.exp(_exponents(x, projection)).to(x.dtype)
