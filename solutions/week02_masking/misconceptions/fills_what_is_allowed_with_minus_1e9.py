"""Fills the entries where the mask says True with a large negative number.

Exercise: masked_softmax
Believes: masked_fill keeps the entries where its mask is True, and -1e9 is low enough.
Shows: all weight is on entries that should have none; an error in float16.
Hint: `masked_fill` fills where its mask is True. In this course, what does True in a mask mean?
Rejected by: test_values
Costs: 40 %
Belief: true_means_hidden
"""


def masked_softmax(scores, mask, dim=-1):
    return torch.softmax(scores.masked_fill(mask, -1e9), dim=dim)
