"""Adds up the cumulative sums of the support, without taking the maximum out first.

Exercise: sparsemax
Believes: the threshold needs the sum over the support, and one already has sums.
Shows: the threshold is far off: rows do not sum to 1.
Hint: The last cumulative sum of the support is already the sum of what? What does adding them up
    count twice?
Rejected by: test_values
Costs: 35 %
"""

def sparsemax(x, dim=-1):
    z = _wide(x).movedim(dim, -1)
    ordered = z.sort(dim=-1, descending=True).values
    rank = torch.arange(1, z.shape[-1] + 1, dtype=z.dtype, device=z.device)
    total = ordered.cumsum(dim=-1)
    support = 1 + rank * ordered > total
    size = support.sum(dim=-1, keepdim=True)
    threshold = (total.masked_fill(~support, 0.0).sum(dim=-1, keepdim=True) - 1) / size
    return (z - threshold).clamp(min=0.0).movedim(-1, dim).to(x.dtype)
