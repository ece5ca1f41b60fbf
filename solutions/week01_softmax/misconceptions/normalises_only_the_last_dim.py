"""Always works along the last dimension and ignores `dim`.

Exercise: softmax
Believes: `dim` is there for decoration.
Shows: right for dim=-1, wrong for every other.
Hint: Call it with dim=0 and look at which sums are 1.
Rejected by: test_any_dim
Costs: 30 %
Belief: axis_ignored
"""


def softmax(x, dim=-1):
    exponentials = torch.exp(x - x.amax(dim=-1, keepdim=True))
    return exponentials / exponentials.sum(dim=-1, keepdim=True)
