"""Takes the maximum of the whole tensor out of every row's sum.

Exercise: logsumexp
Believes: one shift protects all rows.
Shows: -inf for rows far below the largest entry.
Hint: What is exp(-1000)? Let each row bring its own maximum.
Rejected by: test_rows_of_different_magnitude
Costs: 35 %
Belief: global_maximum
"""


def logsumexp(x, dim=-1, keepdim=False):
    shift = x.max().detach()
    if not torch.isfinite(shift):
        shift = torch.zeros_like(shift)
    return torch.log(torch.exp(x - shift).sum(dim=dim, keepdim=keepdim)) + shift
