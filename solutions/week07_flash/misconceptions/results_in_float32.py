"""Returns float32 for every dtype of the blocks.

Exercise: online_softmax
Believes: Sums are float32.
Shows: Wrong type for half and double precision.
Hint: Computing in a wider type is fine. Go back to the type of the blocks at the end, and never to
    a narrower one.
Rejected by: test_float_types
Costs: 20 %
"""


def online_softmax(blocks):
    maximum = total = None
    for block in blocks:
        entries = block.float()
        if maximum is None:
            maximum = torch.full_like(entries[..., 0], -torch.inf)
            total = torch.zeros_like(maximum)
        new_maximum = torch.maximum(maximum, entries.amax(-1))
        shift = _finite(new_maximum)
        fresh = torch.exp(entries - shift.unsqueeze(-1)).sum(-1)
        total = total * torch.exp(maximum - shift) + fresh
        maximum = new_maximum
    return maximum, total
