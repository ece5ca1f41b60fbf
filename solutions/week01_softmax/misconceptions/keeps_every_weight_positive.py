"""Raises tiny weights to a small positive number, so that hidden entries still get some attention.

Exercise: softmax
Believes: a weight of 0 is dangerous, because its logarithm is -inf.
Shows: -inf does not get exactly 0, and a row sums to a little more than 1.
Hint: An entry of -inf says "not at all". What should its weight be?
Rejected by: test_minus_infinity
Costs: 20 %
"""


def softmax(x, dim=-1):
    exponentials = torch.exp(x - x.amax(dim=dim, keepdim=True))
    return (exponentials / exponentials.sum(dim=dim, keepdim=True)).clamp(min=1e-7)
