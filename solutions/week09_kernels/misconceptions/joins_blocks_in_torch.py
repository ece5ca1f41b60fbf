"""Computes each block in a separate kernel call and joins the results in torch.

Exercise: logsumexp_rows
Believes: Blocks are independent.
Shows: The right result, but torch does part of the work.
Hint: A program can go along its row itself; then maximum and sum never leave it.
Rejected by: test_the_kernel_does_the_work
Costs: 50 %
"""

_rows = logsumexp_rows


def logsumexp_rows(x, block=64):
    parts = torch.stack([_rows(part, block) for part in x.split(block, dim=1)])
    top = parts.amax(0)
    base = top.masked_fill(top == -torch.inf, 0.0)
    return base + (parts - base).exp().sum(0).log()
