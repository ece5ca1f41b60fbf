"""Does not change the sum when a block has a larger maximum.

Exercise: online_softmax
Believes: Each block is shifted by the newest maximum, so the sums can simply be added.
Shows: The sum is too large wherever the maximum rises after the first block.
Hint: What was summed up before refers to another maximum. By which factor do exp(x - old) and exp(x
    - new) differ?
Rejected by: test_maximum_rises
Costs: 40 %
Belief: sum_not_rescaled
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
        total = total + fresh
        maximum = new_maximum
    return maximum.to(block.dtype), total.to(block.dtype)
