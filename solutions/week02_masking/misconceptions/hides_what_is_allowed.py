"""Hides the entries where the mask says True and keeps those where it says False.

Exercise: masked_softmax
Believes: masked_fill keeps the entries where its mask is True.
Shows: all weight is on entries that should have none.
Hint: `masked_fill` fills where its mask is True. In this course, what does True in a mask mean?
Rejected by: test_values
Costs: 35 %
Belief: true_means_hidden
"""


def masked_softmax(scores, mask, dim=-1):
    weights = torch.softmax(scores.masked_fill(mask, torch.finfo(scores.dtype).min), dim=dim)
    return weights.masked_fill(mask, 0.0)
