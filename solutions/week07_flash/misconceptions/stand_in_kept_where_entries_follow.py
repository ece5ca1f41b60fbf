"""Keeps the 0 that stands in for -inf as the running maximum, and puts -inf back at the end.

Exercise: online_softmax
Believes: Only rows without any entry need their -inf back.
Shows: Rows of only -inf are right; those that begin with a block of -inf never go below 0.
Hint: Follow the maximum of a row with the blocks (-inf, -inf) and (-3, -4). What is it at the end?
Rejected by: test_minus_infinity_before_very_negative_numbers
Costs: 20 %
"""


def online_softmax(blocks):
    maximum = total = None
    for block in blocks:
        entries = block.to(_wide(block.dtype))
        if maximum is None:
            maximum = torch.full_like(entries[..., 0], -torch.inf)
            total = torch.zeros_like(maximum)
        shift = _finite(torch.maximum(maximum, entries.amax(-1)))
        fresh = torch.exp(entries - shift.unsqueeze(-1)).sum(-1)
        total = total * torch.exp(maximum - shift) + fresh
        maximum = shift
    maximum = maximum.masked_fill(total == 0, -torch.inf)
    return maximum.to(block.dtype), total.to(block.dtype)
