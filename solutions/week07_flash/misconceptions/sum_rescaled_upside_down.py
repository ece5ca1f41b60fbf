"""Rescales the old sum in the wrong direction when the maximum rises.

Exercise: online_softmax
Believes: A larger maximum makes the old sum larger.
Shows: The sum explodes where the maximum rises.
Hint: A sum that refers to a larger maximum must be smaller. Try one row by hand: first 0, then 5.
Rejected by: test_maximum_rises
Costs: 35 %
Belief: rescales_upside_down
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
        total = total * torch.exp(shift - maximum).nan_to_num(posinf=0.0) + fresh
        maximum = new_maximum
    return maximum.to(block.dtype), total.to(block.dtype)
