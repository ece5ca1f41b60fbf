"""Rescales the old sum from the block's maximum.

Exercise: online_softmax
Believes: The current block decides how the old sum changes.
Shows: Right for the first block, and wherever both maxima are equal.
Hint: The old sum refers to the old maximum. Which two numbers form the factor that rescales it to
    the new one?
Rejected by: test_values
Costs: 35 %
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
        total = total * torch.exp(entries.amax(-1) - shift) + fresh
        maximum = new_maximum
    return maximum.to(block.dtype), total.to(block.dtype)
