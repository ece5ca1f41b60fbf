"""Finds the threshold by halving an interval and stops when it is nearly right.

Exercise: entmax15
Believes: fifteen halvings are as good as exact.
Shows: rows sum to 1 up to the fourth digit only, in double precision too.
Hint: Each halving gives one more bit. How many bits does float64 have? And once you know which entries stay, there is a formula for the threshold.
Rejected by: test_exact_to_the_dtype
Costs: 20 %
"""


def entmax15(x, dim=-1):
    z = _wide(x).movedim(dim, -1) / 2
    z = z - z.amax(dim=-1, keepdim=True)
    low = torch.full_like(z[..., :1], -1.0)
    width = 1.0
    for _ in range(15):
        width /= 2
        total = (z - low - width).clamp(min=0).square().sum(dim=-1, keepdim=True)
        low = torch.where(total >= 1, low + width, low)
    return (z - low).clamp(min=0).square().movedim(-1, dim).to(x.dtype)
