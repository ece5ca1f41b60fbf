"""Takes all rows for one: the maximum and the sum go over the whole tensor.

Exercise: softmax
Believes: the formula is written for a vector, and torch does the rest.
Shows: right for a single row; with several, all entries together sum to 1.
Hint: Add up the weights of each row of a matrix. How many rows should sum to 1?
Rejected by: test_values
Costs: 45 %
"""


def softmax(x, dim=-1):
    exponentials = torch.exp(x - x.max())
    return exponentials / exponentials.sum()
