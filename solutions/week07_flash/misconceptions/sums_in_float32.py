"""Computes in float32 even where the blocks are float64.

Exercise: online_softmax
Believes: float32 is wide enough for everything.
Shows: Seven right digits in float64.
Hint: torch.promote_types knows the wider of two types.
Rejected by: test_float_types
Costs: 20 %
Belief: float32_everywhere
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
    return maximum.to(block.dtype), total.to(block.dtype)
