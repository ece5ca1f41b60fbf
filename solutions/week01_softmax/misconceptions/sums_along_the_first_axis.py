"""Sums along the first axis for any `dim`.

Exercise: softmax
Believes: the sum runs over the batch, or over rows, which are the first axis.
Shows: columns sum to 1 and rows do not.
Hint: Which axis of your result sums to 1? Which one should, according to `dim`?
Rejected by: test_values
Costs: 40 %
"""


def softmax(x, dim=-1):
    exponentials = torch.exp(x - x.amax(dim, keepdim=True).detach())
    return exponentials / exponentials.sum(0, keepdim=True)
