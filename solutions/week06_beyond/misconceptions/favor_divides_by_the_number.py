"""Divides the features by r itself.

Exercise: favor_features
Believes: the features are averaged, and averaging divides by their number.
Shows: products of features come out r times too small.
Hint: The average over features happens in the product φ(q)·φ(k). What is left of your factor there?
Rejected by: test_values
Costs: 25 %
"""


def favor_features(x, projection):
    return (torch.exp(_exponents(x, projection)) / len(projection)).to(x.dtype)
