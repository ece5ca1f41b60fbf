"""Adds the maximum with its axis to a logarithm that has lost it.

Exercise: logsumexp
Believes: broadcasting leads each row to its own maximum.
Shows: one dimension too many: every row's logarithm meets every row's maximum.
Hint: Print the shapes of the two terms that you add at the end. Which of them still has `dim`?
Rejected by: test_values
Costs: 30 %
"""


def logsumexp(x, dim=-1, keepdim=False):
    shift = x.amax(dim=dim, keepdim=True).detach()
    shift = torch.where(torch.isfinite(shift), shift, torch.zeros_like(shift))
    return torch.exp(x - shift).sum(dim=dim, keepdim=keepdim).log() + shift
