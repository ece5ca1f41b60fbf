"""Adds a small number to the sum.

Exercise: online_softmax
Believes: A small number prevents a division by zero later.
Shows: Rows of only -inf do not sum to 0, and float64 loses digits.
Hint: What should the sum of a row of only -inf be? Whoever divides by it can take care.
Rejected by: test_only_minus_infinity
Costs: 20 %
Belief: guards_the_denominator
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
        maximum = new_maximum
    return maximum.to(block.dtype), (total + 1e-6).to(block.dtype)
