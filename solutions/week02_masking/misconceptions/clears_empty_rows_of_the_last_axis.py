"""Sets weights to zero where a row of the last axis is empty, along whichever axis the softmax runs.

Exercise: masked_softmax
Believes: an empty row is always an empty row of the last axis.
Shows: right for dim=-1; along a different dim, empty rows hold 1/m everywhere.
Hint: The case dim=-1 is right. What does your function look for when `dim` is 0?
Rejected by: test_empty_along_any_axis
Costs: 20 %
"""


def masked_softmax(scores, mask, dim=-1):
    lowest = torch.finfo(scores.dtype).min
    hidden = ~mask
    weights = torch.softmax(scores.masked_fill(hidden, lowest), dim=dim)
    return weights * mask.any(dim=-1, keepdim=True)
