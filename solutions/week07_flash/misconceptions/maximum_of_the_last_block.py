"""Takes the newest block's maximum for that of all blocks.

Exercise: online_softmax
Believes: Any number will do as a reference, so the latest is fine.
Shows: maximum + log(sum) may still be right, but neither number is, and large numbers overflow.
Hint: The maximum never goes down. Compare what the new block brings with what you have.
Rejected by: test_maximum_comes_first
Costs: 40 %
"""


def online_softmax(blocks):
    maximum = total = None
    for block in blocks:
        entries = block.to(_wide(block.dtype))
        if maximum is None:
            maximum = torch.full_like(entries[..., 0], -torch.inf)
            total = torch.zeros_like(maximum)
        new_maximum = entries.amax(-1)
        shift = _finite(new_maximum)
        fresh = torch.exp(entries - shift.unsqueeze(-1)).sum(-1)
        total = total * torch.exp(maximum - shift) + fresh
        maximum = new_maximum
    return maximum.to(block.dtype), total.to(block.dtype)
