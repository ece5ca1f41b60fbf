"""Lets the maximum lose its axis, so that it lines up with the wrong entries.

Exercise: logsumexp
Believes: broadcasting finds the right axis by itself.
Shows: an error for most shapes, silently wrong numbers for square ones; right for a single row.
Hint: Print the shapes of your tensor and of its maximum. Along which axis does broadcasting line
    them up?
Rejected by: test_values
Costs: 35 %
"""


def logsumexp(x, dim=-1, keepdim=False):
    shift = x.amax(dim=dim).detach()
    shift = torch.where(torch.isfinite(shift), shift, torch.zeros_like(shift))
    result = torch.exp(x - shift).sum(dim=dim).log() + shift
    return result.unsqueeze(dim) if keepdim else result
