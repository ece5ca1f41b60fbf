"""Always sums over the last dimension and ignores `dim`.

Exercise: logsumexp
Believes: `dim` is there for decoration.
Shows: right for dim=-1; a different shape for any other `dim`.
Hint: Call it with dim=0 on a tensor of shape (2, 3). Which shape should be returned?
Rejected by: test_any_dim
Costs: 30 %
Belief: axis_ignored
"""


def logsumexp(x, dim=-1, keepdim=False):
    shift = x.amax(dim=-1, keepdim=True).detach()
    shift = torch.where(torch.isfinite(shift), shift, torch.zeros_like(shift))
    result = torch.log(torch.exp(x - shift).sum(dim=-1, keepdim=True)) + shift
    return result if keepdim else result.squeeze(-1)
