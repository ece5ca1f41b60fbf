"""Takes the mean squared deviation where the formula has the sum of squared deviations.

Exercise: entmax15
Believes: S is the variance of the support.
Shows: right where one entry takes all; otherwise rows do not sum to 1.
Hint: Write out Σ (z - τ)² = 1 over k entries with mean M. Is Σ (z - M)² divided by k in it?
Rejected by: test_values
Costs: 35 %
"""


def entmax15(x, dim=-1):
    z = _wide(x).movedim(dim, -1) / 2
    z = z - z.amax(dim=-1, keepdim=True).detach()
    ordered = z.sort(dim=-1, descending=True).values.clamp(min=-10.0)
    rank = torch.arange(1, z.shape[-1] + 1, dtype=z.dtype, device=z.device)
    mean = ordered.cumsum(dim=-1) / rank
    deviation = ordered.square().cumsum(dim=-1) / rank - mean.square()
    threshold = mean - ((1 - deviation) / rank).clamp(min=0).sqrt()
    size = (threshold <= ordered).sum(dim=-1, keepdim=True)
    threshold = threshold.gather(-1, size - 1)
    return (z - threshold).clamp(min=0).square().movedim(-1, dim).to(x.dtype)
