"""Subtracts the largest exponent of every vector, as one does in a softmax.

Exercise: favor_features
Believes: an exponential always needs its maximum subtracted, and a factor does not matter.
Shows: the largest feature of every vector is 1/√r, and the features of keys lose their size against each other.
Hint: In a softmax the factor cancels, because the row is divided by its sum. What is divided here? And what would it do to keys?
Rejected by: test_values
Costs: 35 %
Belief: shift_per_vector
"""


def favor_features(x, projection):
    exponents = _exponents(x, projection)
    exponents = exponents - exponents.amax(dim=-1, keepdim=True)
    return (torch.exp(exponents) / math.sqrt(len(projection))).to(x.dtype)
