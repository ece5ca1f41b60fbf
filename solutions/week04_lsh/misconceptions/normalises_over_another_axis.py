"""Scales the keys over their second axis.

Exercise: lsh_attention
Believes: normalize works on the last axis when no axis is named.
Shows: Right for an input of two axes; with a batch the positions are normalised, with heads the
    heads.
Hint: Over which axis does your code take the length of a key? If you name none, look up the
default.
Rejected by: test_any_leading_dimensions
Costs: 25 %
"""


def _unit_length(x):
    return nn.functional.normalize(x)
