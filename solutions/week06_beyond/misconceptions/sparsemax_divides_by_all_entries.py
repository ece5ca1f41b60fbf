"""Spreads what is too much over all entries.

Exercise: sparsemax
Believes: the threshold is the surplus divided by the length of the row.
Shows: rows no longer sum to 1 as soon as one entry is zero; right where all entries are close
    together.
Hint: Sum one of your rows. How many entries were lowered and stayed positive, and by how many did you divide?
Rejected by: test_values
Costs: 40 %
"""


def sparsemax(x, dim=-1):
    z = _wide(x).movedim(dim, -1)
    ordered = z.sort(dim=-1, descending=True).values
    rank = torch.arange(1, z.shape[-1] + 1, dtype=z.dtype, device=z.device)
    total = ordered.cumsum(dim=-1)
    size = (1 + rank * ordered > total).sum(dim=-1, keepdim=True)
    threshold = (total.gather(-1, size - 1) - 1) / z.shape[-1]
    return (z - threshold).clamp(min=0).movedim(-1, dim).to(x.dtype)
