"""Computes the threshold outside the graph, so that the gradient knows nothing of it.

Exercise: sparsemax
Believes: a threshold is a number to compare with, and numbers to compare with need no gradient.
Shows: right values; the gradient of the sum of a row is not zero, although that sum is always 1.
Hint: Raise all entries by a little: what happens to the probabilities? Which part of your formula would have to move along, and does it carry a gradient?
Rejected by: test_gradients
Costs: 35 %
Belief: constant_threshold
"""


def sparsemax(x, dim=-1):
    z = _wide(x).movedim(dim, -1)
    with torch.no_grad():
        ordered, rank = _largest_first(z)
        total = ordered.cumsum(dim=-1)
        size = (1 + rank * ordered > total).sum(dim=-1, keepdim=True)
        threshold = z.amax(dim=-1, keepdim=True) + (total.gather(-1, size - 1) - 1) / size
    return (z - threshold).clamp(min=0).movedim(-1, dim).to(x.dtype)
