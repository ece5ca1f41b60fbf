"""Computes the threshold outside the graph, so that the gradient knows nothing of it.

Exercise: entmax15
Believes: the threshold is found by searching, and a search has no gradient.
Shows: right values; the gradient of the sum of a row is not zero, although that sum is always 1.
Hint: Find the support outside the graph, by all means. But the threshold for a given support is a formula in x: where is its gradient?
Rejected by: test_gradients
Costs: 35 %
Belief: constant_threshold
"""


def entmax15(x, dim=-1):
    z = _wide(x).movedim(dim, -1) / 2
    with torch.no_grad():
        ordered, rank = _largest_first(z)
        mean = ordered.cumsum(dim=-1) / rank
        deviation = ordered.square().cumsum(dim=-1) - rank * mean.square()
        thresholds = mean - ((1 - deviation) / rank).clamp(min=0.0).sqrt()
        size = (thresholds < ordered).sum(dim=-1, keepdim=True)
        threshold = thresholds.gather(-1, size - 1) + z.amax(dim=-1, keepdim=True)
    return (z - threshold).clamp(min=0).square().movedim(-1, dim).to(x.dtype)
