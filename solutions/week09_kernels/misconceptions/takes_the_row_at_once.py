"""Makes the block as long as the row.

Exercise: logsumexp_rows
Believes: A row fits into a block.
Shows: The right result, for rows that fit.
Hint: The block is the caller's to choose. What if a row has a hundred thousand entries?
Rejected by: test_one_pass
Costs: 25 %
"""


def logsumexp_rows(x: torch.Tensor, block: int = 64) -> torch.Tensor:
    n, m = x.shape
    y = torch.empty(n, dtype=torch.float32, device=x.device)
    _logsumexp_kernel[(n,)](x, y, m, *x.stride(), block=max(block, triton.next_power_of_2(m)))
    return y
