"""Keeps the 0 that stands in for -inf as the running maximum.

Exercise: online_softmax
Believes: Once -inf has been replaced by 0, 0 is the maximum.
Shows: Rows of only -inf give (0, 0), and rows that begin with -inf never go below 0.
Hint: The stand-in is for the subtraction only. What should be remembered, and returned?
Rejected by: test_only_minus_infinity
Costs: 20 %
"""


def online_softmax(blocks):
    maximum = total = None
    for block in blocks:
        entries = block.to(_wide(block.dtype))
        if maximum is None:
            maximum = torch.full_like(entries[..., 0], -torch.inf)
            total = torch.zeros_like(maximum)
        new_maximum = torch.maximum(maximum, entries.amax(-1))
        shift = _finite(new_maximum)
        fresh = torch.exp(entries - shift.unsqueeze(-1)).sum(-1)
        total = total * torch.exp(maximum - shift) + fresh
        maximum = shift
    return maximum.to(block.dtype), total.to(block.dtype)
