"""Fills hidden scores with a large negative number and leaves it at that.

Exercise: masked_softmax
Believes: -1e9 is as good as minus infinity.
Shows: an empty row gives 1/m everywhere; float16 can't hold the number at all.
Hint: If all scores are equal, however low, what does a softmax give? And what is the largest
    number in float16?
Rejected by: test_empty_rows
Costs: 30 %
Belief: empty_rows
"""


def masked_softmax(scores, mask, dim=-1):
    return torch.softmax(scores.masked_fill(~mask, -1e9), dim=dim)
