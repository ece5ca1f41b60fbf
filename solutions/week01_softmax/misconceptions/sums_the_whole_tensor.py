"""Divides by the sum of the whole tensor, so that all entries together sum to 1.

Exercise: softmax
Believes: there is one total, also when there are several rows.
Shows: right for a single row; with several, each row sums to less than 1.
Hint: Add up the weights of each row of a matrix. How many rows should sum to 1?
Rejected by: test_values
Costs: 45 %
"""


def softmax(x, dim=-1):
    exponentials = torch.exp(x - x.amax(dim=dim, keepdim=True))
    return exponentials / exponentials.sum()
