"""Builds its mask by multiplying 0 with -inf, which is NaN.

Exercise: masked_softmax
Believes: zero times anything is zero.
Shows: NaN at every allowed entry.
Hint: Try `0 * float("-inf")` at a Python prompt. Which operation puts -inf in some places without a
    product?
Rejected by: test_values
Costs: 90 %
"""


def masked_softmax(scores, mask, dim=-1):
    return torch.softmax(scores + (1.0 - mask.to(scores.dtype)) * float("-inf"), dim=dim)
