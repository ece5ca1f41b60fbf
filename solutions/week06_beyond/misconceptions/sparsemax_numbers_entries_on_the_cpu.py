"""Creates a tensor on the CPU, wherever the input is.

Exercise: sparsemax
Believes: a new tensor lives where the others do.
Shows: right on the CPU; on a GPU an error about two devices.
Hint: On which device does torch create a tensor by default?
Rejected by: test_device
Costs: 15 %
"""


def sparsemax(x, dim=-1):
    z = x.movedim(dim, -1)
    z = z - z.amax(dim=-1, keepdim=True).detach()
    ordered = z.sort(dim=-1, descending=True).values
    rank = torch.arange(1, z.shape[-1] + 1)
    total = ordered.cumsum(dim=-1)
    size = (1 + rank * ordered > total).sum(dim=-1, keepdim=True)
    threshold = (total.gather(-1, size - 1) - 1) / size
    return (z - threshold).clamp(min=0).movedim(-1, dim).to(x.dtype)
