"""Types exp(x) / sum(exp(x)) literally: one sum for all rows, and no guard against overflow.

Exercise: softmax
Believes: the formula is written for a vector, and torch does the rest.
Shows: all entries together sum to 1, not each row; large scores give NaN.
Hint: Try a matrix and add up each of its rows; then try a row like [1000, 1001]. Two things are
    missing, one for each.
Rejected by: test_values
Costs: 80 %
"""


def softmax(x, dim=-1):
    exponentials = torch.exp(x)
    return exponentials / exponentials.sum()
