"""Returns NaN for a row that contains only -inf.

Exercise: logsumexp
Believes: the maximum of a row is always a number one can subtract.
Shows: NaN for a row of only -inf; right everywhere else.
Hint: What is the maximum of such a row, and what do you get when you subtract it from itself?
Rejected by: test_row_of_minus_infinity
Costs: 20 %
"""


def logsumexp(x, dim=-1, keepdim=False):
    shift = x.amax(dim=dim, keepdim=True).detach()
    result = torch.log(torch.exp(x - shift).sum(dim=dim, keepdim=True)) + shift
    return result if keepdim else result.squeeze(dim)
