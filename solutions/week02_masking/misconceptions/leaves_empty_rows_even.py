"""Gives even weights to a row in which everything is hidden.

Exercise: masked_softmax
Believes: a very low score for everything leaves no weight for anything.
Shows: all is right but rows in which everything is hidden: they hold 1/m everywhere.
Hint: A softmax only sees differences. What does it make of scores that are all equally low?
Rejected by: test_empty_rows
Costs: 30 %
Belief: empty_rows
"""


def masked_softmax(scores, mask, dim=-1):
    filled = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    return torch.softmax(filled, dim=dim)
