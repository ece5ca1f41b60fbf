"""Adds a small number inside the logarithm, so that a row of only -inf gets a finite answer.

Exercise: logsumexp
Believes: a logarithm must be kept away from 0.
Shows: about -23 for a row of only -inf, and errors in the tenth digit elsewhere.
Hint: For which rows can the sum be 0 after the shift, and which answer is wanted there?
Rejected by: test_row_of_minus_infinity
Costs: 20 %
Belief: guards_the_denominator
"""


def logsumexp(x, dim=-1, keepdim=False):
    shift = x.amax(dim=dim, keepdim=True).detach()
    shift = torch.where(torch.isfinite(shift), shift, torch.zeros_like(shift))
    total = torch.exp(x - shift).sum(dim=dim, keepdim=True)
    result = torch.log(total + 1e-10) + shift
    return result if keepdim else result.squeeze(dim)
