"""Adds up the cumulative sums of the support.

Exercise: sparsemax
Believes: the threshold needs the sum over the support, and one already has sums.
Shows: the threshold is wrong as soon as several entries stay, and the rows no longer sum to 1.
Hint: The last cumulative sum of the support is already the sum of what? What does adding them up count twice?
Rejected by: test_values
Costs: 35 %
"""


def sparsemax(x, dim=-1):
    z = _wide(x).movedim(dim, -1)
    z = z - z.detach().amax(dim=-1, keepdim=True)
    ordered, rank = _largest_first(z)
    total = ordered.cumsum(dim=-1)
    support = 1 + rank * ordered > total
    size = support.sum(dim=-1, keepdim=True)
    threshold = ((total * support).sum(dim=-1, keepdim=True) - 1) / size
    return (z - threshold).clamp(min=0.0).movedim(-1, dim).to(x.dtype)
