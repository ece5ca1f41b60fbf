"""Starts the running maximum at the most negative finite number of the dtype.

Exercise: online_softmax
Believes: The most negative number of a dtype is below all entries.
Shows: A row of only -inf gives a maximum of about -3.4e38 in float32.
Hint: Which entry would leave your running maximum as it was at the start? Compare the result for a
    row of such entries with the docstring.
Rejected by: test_only_minus_infinity
Costs: 20 %
"""


def online_softmax(blocks):
    maximum = total = None
    for block in blocks:
        entries = block.to(_wide(block.dtype))
        if maximum is None:
            maximum = torch.full_like(entries[..., 0], torch.finfo(block.dtype).min)
            total = torch.zeros_like(maximum)
        new_maximum = torch.maximum(maximum, entries.amax(-1))
        fresh = torch.exp(entries - new_maximum.unsqueeze(-1)).sum(-1)
        total = total * torch.exp(maximum - new_maximum) + fresh
        maximum = new_maximum
    return maximum.to(block.dtype), total.to(block.dtype)
