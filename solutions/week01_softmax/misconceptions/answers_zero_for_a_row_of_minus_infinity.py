"""Returns 0 for a row that contains only -inf.

Exercise: logsumexp
Believes: 0 is the natural result of an empty sum.
Shows: 0 for a row of only -inf; right everywhere else.
Hint: The sum of no exponentials is 0. And the logarithm of that?
Rejected by: test_row_of_minus_infinity
Costs: 20 %
"""


def logsumexp(x, dim=-1, keepdim=False):
    shift = x.amax(dim=dim, keepdim=True).detach()
    result = torch.log(torch.exp(x - shift).sum(dim=dim, keepdim=True)) + shift
    result = torch.where(torch.isnan(result), torch.zeros_like(result), result)
    return result if keepdim else result.squeeze(dim)
