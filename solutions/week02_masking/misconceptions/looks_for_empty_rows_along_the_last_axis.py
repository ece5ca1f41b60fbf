"""Looks for empty rows along the last axis, although the softmax runs along `dim`.

Exercise: masked_softmax
Believes: an empty row is always an empty row of the last axis.
Shows: NaN where everything along another `dim` is hidden.
Hint: The case dim=-1 is right. Along which axis must you ask "is anything allowed?" when the
    softmax runs along another?
Rejected by: test_empty_along_any_axis
Costs: 15 %
"""


def masked_softmax(scores, mask, dim=-1):
    weights = torch.softmax(scores.masked_fill(~mask, float("-inf")), dim=dim)
    return torch.where(
        mask.expand_as(scores).any(dim=-1, keepdim=True), weights, torch.zeros_like(weights)
    )
