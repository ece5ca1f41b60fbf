"""Allows a key as soon as one of the two masks allows it.

Exercise: combine_masks
Believes: masks are combined with "or".
Shows: real tokens of the future can be seen, and so can padding of the past.
Hint: Take a real token in the future: the padding mask allows it, the causal mask does not. May
    it be seen?
Rejected by: test_both_must_allow
Costs: 45 %
"""


def combine_masks(causal, padding):
    return causal | padding[:, None, None, :]
