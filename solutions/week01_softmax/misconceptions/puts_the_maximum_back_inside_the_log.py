"""Adds the maximum inside the logarithm.

Exercise: logsumexp
Believes: log(sum) + max and log(sum + max) are the same.
Shows: numbers that are far too small, NaN where the maximum is negative enough.
Hint: Write exp(max) as a factor of the sum. What does a logarithm make of a factor?
Rejected by: test_values
Costs: 40 %
"""


def logsumexp(x, dim=-1, keepdim=False):
    shift = x.amax(dim=dim, keepdim=True)
    shift = torch.where(torch.isfinite(shift), shift, torch.zeros_like(shift))
    total = torch.exp(x - shift).sum(dim=dim, keepdim=True)
    result = torch.log(total + shift)
    return result if keepdim else result.squeeze(dim)
