"""Keeps the sum above 1e-300, to be safe from log(0).

Exercise: logsumexp
Believes: the logarithm of 0 is an error that has to be prevented.
Shows: about -690 instead of -inf for a row of only -inf in float64; in float32, 1e-300 is 0.
Hint: What is the logarithm of an empty sum, and what does torch.log return for it? What is 1e-300
    in float32, and what in float64?
Rejected by: test_row_of_minus_infinity_in_float64
Costs: 15 %
"""


def logsumexp(x, dim=-1, keepdim=False):
    shift = x.amax(dim=dim, keepdim=True).detach()
    shift = torch.where(torch.isfinite(shift), shift, torch.zeros_like(shift))
    total = torch.exp(x - shift).sum(dim=dim, keepdim=True)
    result = torch.log(total.clamp(min=1e-300)) + shift
    return result if keepdim else result.squeeze(dim)
