"""Returns the logarithm of the sum.

Exercise: online_softmax
Believes: Sums of exponentials are kept as logarithms.
Shows: log(sum) in the second place, and -inf for rows of only -inf.
Hint: The docstring says what the second result is. The caller can take a logarithm if needed.
Rejected by: test_values
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
        maximum = new_maximum
    return maximum.to(block.dtype), total.log().to(block.dtype)
