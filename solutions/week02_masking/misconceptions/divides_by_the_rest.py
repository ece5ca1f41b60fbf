"""Zeroes hidden weights after the softmax and divides by what is left, which may be nothing.

Exercise: masked_softmax
Believes: dividing by the remaining sum corrects a softmax over everything.
Shows: NaN in empty rows and next to hidden scores that are far larger or not finite.
Hint: Nearly there. What is the sum of a row in which all is hidden, or in which a hidden score
    took all the weight?
Rejected by: test_empty_rows
Costs: 30 %
Belief: empty_rows
"""


def masked_softmax(scores, mask, dim=-1):
    weights = torch.softmax(scores, dim=dim) * mask
    return weights / weights.sum(dim=dim, keepdim=True)
