"""Adds a large negative number to the entries where the mask says True.

Exercise: masked_softmax
Believes: the mask is 1 where something is hidden.
Shows: all weight is on entries that should have none.
Hint: Write down what you add for one row of a mask. Which entries does it lower, and which ones
does True stand for in this course?
Rejected by: test_values
Costs: 40 %
Belief: true_means_hidden
"""


def masked_softmax(scores, mask, dim=-1):
    return torch.softmax(scores + mask.to(scores.dtype) * -1e9, dim=dim)
