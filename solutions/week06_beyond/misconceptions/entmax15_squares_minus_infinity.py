"""Squares entries of -inf, and discards the results only afterwards.

Exercise: entmax15
Believes: what torch.where discards has no part in the gradient.
Shows: right values; gradients are NaN in rows that contain -inf.
Hint: Infinity times a gradient of zero is NaN. Which operations see an entry of -inf before it is discarded?
Rejected by: test_minus_infinity
Costs: 20 %
"""


def entmax15(x, dim=-1):
    z = _wide(x).movedim(dim, -1) / 2
    z = z - z.amax(dim=-1, keepdim=True)
    with torch.no_grad():
        ordered, rank = _largest_first(z)
        mean = ordered.cumsum(dim=-1) / rank
        deviation = ordered.square().cumsum(dim=-1) - rank * mean.square()
        thresholds = mean - ((1 - deviation) / rank).clamp(min=0.0).sqrt()
        size = (thresholds < ordered).sum(dim=-1, keepdim=True)
        support = z > thresholds.gather(-1, size - 1)
        size = support.sum(dim=-1, keepdim=True)
    mean = torch.where(support, z, 0.0).sum(dim=-1, keepdim=True) / size
    deviation = torch.where(support, (z - mean).square(), 0.0).sum(dim=-1, keepdim=True)
    threshold = mean - ((1 - deviation) / size).sqrt()
    probabilities = torch.where(support, (z - threshold).square(), 0.0)
    return probabilities.movedim(-1, dim).to(x.dtype)
