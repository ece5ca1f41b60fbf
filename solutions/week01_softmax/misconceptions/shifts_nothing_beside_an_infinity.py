"""Leaves every row unshifted as soon as one entry of the tensor is -inf.

Exercise: logsumexp
Believes: a tensor that contains -inf consists of small numbers.
Shows: overflow or underflow in rows of large numbers, but only if the tensor also contains -inf.
Hint: One row contains 1000 and -inf, the other only -inf. Which rows need a special shift?
Rejected by: test_row_of_minus_infinity
Costs: 20 %
"""


def logsumexp(x, dim=-1, keepdim=False):
    shift = x.amax(dim=dim, keepdim=True).detach()
    if torch.isinf(x).any():
        shift = torch.zeros_like(shift)
    result = torch.log(torch.exp(x - shift).sum(dim=dim, keepdim=True)) + shift
    return result if keepdim else result.squeeze(dim)
