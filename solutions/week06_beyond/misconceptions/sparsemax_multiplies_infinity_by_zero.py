"""Sums the support by multiplying the sorted entries with a 0/1 mask, and 0 · -inf is NaN.

Exercise: sparsemax
Believes: multiplying by a mask removes an entry, whatever it is.
Shows: right, until the first -inf: then the whole row is NaN.
Hint: What is 0 times -inf? Look for a way to leave entries out that does not multiply them.
Rejected by: test_minus_infinity
Costs: 20 %
"""


def sparsemax(x, dim=-1):
    z = _wide(x).movedim(dim, -1)
    z = z - z.amax(dim=-1, keepdim=True)
    ordered = z.sort(dim=-1, descending=True).values
    rank = torch.arange(1, z.shape[-1] + 1, dtype=z.dtype, device=z.device)
    inside = (1 + rank * ordered > ordered.cumsum(dim=-1)).to(z.dtype)
    size = inside.sum(dim=-1, keepdim=True)
    threshold = ((ordered * inside).sum(dim=-1, keepdim=True) - 1) / size
    return (z - threshold).clamp(min=0).movedim(-1, dim).to(x.dtype)
