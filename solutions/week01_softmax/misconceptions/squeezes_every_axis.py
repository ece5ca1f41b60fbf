"""Drops every dimension of size 1.

Exercise: logsumexp
Believes: a dimension of size 1 is always a leftover.
Shows: right until a batch contains a single example; then its dimension is removed too.
Hint: Try a tensor of shape (1, 5). Which dimension is yours to drop?
Rejected by: test_single_entry
Costs: 15 %
"""


def logsumexp(x, dim=-1, keepdim=False):
    shift = x.amax(dim=dim, keepdim=True).detach()
    shift = torch.where(torch.isfinite(shift), shift, torch.zeros_like(shift))
    result = torch.log(torch.exp(x - shift).sum(dim=dim, keepdim=True)) + shift
    return result if keepdim else result.squeeze()
