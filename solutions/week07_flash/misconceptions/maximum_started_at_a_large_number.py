"""Starts the running maximum at a large negative number.

Exercise: online_softmax
Believes: No number is smaller than -1e9.
Shows: A row of only -inf gives (-1e9, 0).
Hint: One number is smaller than yours, and the docstring names it.
Rejected by: test_only_minus_infinity
Costs: 20 %
"""


def online_softmax(blocks):
    maximum = total = None
    for block in blocks:
        entries = block.to(_wide(block.dtype))
        if maximum is None:
            maximum = torch.full_like(entries[..., 0], -1e9)
            total = torch.zeros_like(maximum)
        new_maximum = torch.maximum(maximum, entries.amax(-1))
        shift = _finite(new_maximum)
        fresh = torch.exp(entries - shift.unsqueeze(-1)).sum(-1)
        total = total * torch.exp(maximum - shift) + fresh
        maximum = new_maximum
    return maximum.to(block.dtype), total.to(block.dtype)
