"""Leaves the 1 out of the test for the support.

Exercise: sparsemax
Believes: an entry stays if it exceeds the mean of those before it.
Shows: only the largest entry stays: every row is one-hot.
Hint: The entries that stay sum to 1 above the threshold. Where is that 1 in your test?
Rejected by: test_values
Costs: 35 %
"""

def sparsemax(x, dim=-1):
    z = _wide(x).movedim(dim, -1)
    z = z - z.detach().amax(dim=-1, keepdim=True)
    ordered, rank = _largest_first(z)
    total = ordered.cumsum(dim=-1)
    size = (rank * ordered >= total).sum(dim=-1, keepdim=True)
    threshold = (total.gather(-1, size - 1) - 1) / size
    return (z - threshold).clamp(min=0.0).movedim(-1, dim).to(x.dtype)
