"""Counts the first block twice: at the start, and again in the loop.

Exercise: online_softmax
Believes: The first block gives the start, then all blocks are gone through.
Shows: The first block's share of the sum is doubled.
Hint: Check with a single block. How often is it added?
Rejected by: test_one_block
Costs: 30 %
"""


def online_softmax(blocks):
    maximum = total = None
    for block in blocks:
        entries = block.to(_wide(block.dtype))
        if maximum is None:
            maximum = torch.full_like(entries[..., 0], -torch.inf)
            maximum = maximum.maximum(entries.amax(-1))
            total = torch.exp(entries - _finite(maximum).unsqueeze(-1)).sum(-1)
        new_maximum = torch.maximum(maximum, entries.amax(-1))
        shift = _finite(new_maximum)
        fresh = torch.exp(entries - shift.unsqueeze(-1)).sum(-1)
        total = total * torch.exp(maximum - shift) + fresh
        maximum = new_maximum
    return maximum.to(block.dtype), total.to(block.dtype)
