"""Drops the dimension it summed over even when asked to keep it.

Exercise: logsumexp
Believes: a caller who needs the dimension can put it back.
Shows: right numbers in a shape that lacks the dimension of size 1.
Hint: Which shape should keepdim=True return?
Rejected by: test_keepdim
Costs: 20 %
"""


def logsumexp(x, dim=-1, keepdim=False):
    shift = x.amax(dim=dim, keepdim=True).detach()
    shift = torch.where(torch.isfinite(shift), shift, torch.zeros_like(shift))
    result = torch.log(torch.exp(x - shift).sum(dim=dim, keepdim=True)) + shift
    return result.squeeze(dim)
