"""Numbers the sorted entries 1 … n along the last axis for any `dim`.

Exercise: sparsemax
Believes: what was made by arange finds its axis by itself.
Shows: right for dim=-1; an error for any other axis, or wrong numbers if the tensor is square.
Hint: Call it with dim=0 on a tensor of shape (2, 3). Which shape do the numbers 1 … n need there?
Rejected by: test_any_axis
Costs: 25 %
"""

def sparsemax(x, dim=-1):
    z = _wide(x)
    z = (z - z.detach().amax(dim=dim, keepdim=True)).clamp(min=-1.0)
    ordered = z.sort(dim=dim, descending=True).values
    rank = torch.arange(1, x.shape[dim] + 1, dtype=z.dtype, device=x.device)
    total = ordered.cumsum(dim=dim)
    size = (1 + rank * ordered > total).sum(dim=dim, keepdim=True)
    threshold = (total.gather(dim, size - 1) - 1) / size
    return (z - threshold).clamp(min=0.0).to(x.dtype)
