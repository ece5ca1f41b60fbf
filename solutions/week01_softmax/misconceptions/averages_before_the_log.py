"""Takes the mean of the exponentials.

Exercise: logsumexp
Believes: a smooth maximum should be an average.
Shows: every result is too small by the log of the number of entries; right for a single entry.
Hint: How far off is your result for a row of n equal numbers, as a function of n?
Rejected by: test_values
Costs: 40 %
"""


def logsumexp(x, dim=-1, keepdim=False):
    shift = x.amax(dim=dim, keepdim=True)
    shift = torch.where(torch.isfinite(shift), shift, torch.zeros_like(shift))
    result = torch.log(torch.exp(x - shift).mean(dim=dim, keepdim=True)) + shift
    return result if keepdim else result.squeeze(dim)
