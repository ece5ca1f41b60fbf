"""Returns both results with a last axis of size 1.

Exercise: online_softmax
Believes: keepdim makes the shapes fit, so it can stay.
Shows: Shape (..., 1) instead of (...).
Hint: Keeping the axis helps inside. Which shape does the docstring name for the results?
Rejected by: test_values
Costs: 20 %
Belief: axis_of_one
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
    return maximum.to(block.dtype).unsqueeze(-1), total.to(block.dtype).unsqueeze(-1)
