"""Takes the root for every possible support, also where its argument is negative, and differentiates through all of them.

Exercise: entmax15
Believes: what is not picked in the end has no part in the gradient.
Shows: right values; gradients are NaN as soon as a row has entries far below its maximum.
Hint: A root of a negative number is NaN, and NaN times a gradient of zero is NaN again. Which roots do you really need?
Rejected by: test_gradients
Costs: 30 %
"""


def entmax15(x, dim=-1):
    z = _wide(x).movedim(dim, -1) / 2
    z = z - z.amax(dim=-1, keepdim=True).detach()
    ordered = z.sort(dim=-1, descending=True).values.clamp(min=-10.0)
    rank = torch.arange(1, z.shape[-1] + 1, dtype=z.dtype, device=z.device)
    mean = ordered.cumsum(dim=-1) / rank
    deviation = rank * (ordered.square().cumsum(dim=-1) / rank - mean.square())
    threshold = mean - ((1 - deviation) / rank).sqrt()
    size = (threshold <= ordered).sum(dim=-1, keepdim=True)
    threshold = threshold.gather(-1, size - 1)
    return (z - threshold).clamp(min=0).square().movedim(-1, dim).to(x.dtype)
