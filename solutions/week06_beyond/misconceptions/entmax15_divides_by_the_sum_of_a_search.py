"""Searches the threshold by halving an interval, and divides by what the weights sum to.

Exercise: entmax15
Believes: a division by the sum makes an approximation exact.
Shows: rows sum to 1, but the last digits are wrong in double precision, and the gradient is that of the division.
Hint: The threshold depends on x. Does your gradient know about that? Compare it with finite differences.
Rejected by: test_gradients
Costs: 35 %
"""


def entmax15(x, dim=-1):
    z = _wide(x).movedim(dim, -1) / 2
    high = z.amax(dim=-1, keepdim=True)
    low = high - 1
    for _ in range(25):
        middle = (low + high) / 2
        total = (z - middle).clamp(min=0).square().sum(dim=-1, keepdim=True)
        low, high = torch.where(total >= 1, middle, low), torch.where(total >= 1, high, middle)
    probabilities = (z - low).clamp(min=0).square()
    probabilities = probabilities / probabilities.sum(dim=-1, keepdim=True)
    return probabilities.movedim(-1, dim).to(x.dtype)
