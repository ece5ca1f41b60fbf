"""Returns NaN where everything is hidden.

Exercise: masked_softmax
Believes: -inf gives a weight of zero, always.
Shows: NaN in empty rows.
Hint: Work out by hand, step by step, what your softmax does with a row in which everything is
hidden.
Rejected by: test_empty_rows
Costs: 30 %
Belief: empty_rows
"""


def masked_softmax(scores, mask, dim=-1):
    return torch.softmax(scores.masked_fill(~mask, float("-inf")), dim=dim)
