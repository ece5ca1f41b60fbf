"""Takes the maximum along the last dimension but the sum along `dim`, so that the shift no longer
cancels.

Exercise: softmax
Believes: where the maximum comes from does not matter.
Shows: the weights sum to 1 along `dim`, yet their ratios are wrong.
Hint: The shift cancels only if every entry that shares a sum was shifted by the same number.
Rejected by: test_any_dim
Costs: 35 %
"""


def softmax(x, dim=-1):
    exponentials = torch.exp(x - x.amax(dim=-1, keepdim=True))
    return exponentials / exponentials.sum(dim=dim, keepdim=True)
