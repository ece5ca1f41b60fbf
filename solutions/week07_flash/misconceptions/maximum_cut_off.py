"""Detaches the maximum, so that no gradient flows through it.

Exercise: online_softmax
Believes: The maximum is only there for stability, and cancels.
Shows: The values are right; the maximum carries no gradient.
Hint: In a softmax the maximum cancels. Does it cancel in a sum of exp(x - maximum) that is returned
    as it is?
Rejected by: test_gradients
Costs: 20 %
"""


def online_softmax(blocks):
    maximum = total = None
    for block in blocks:
        entries = block.to(_wide(block.dtype))
        if maximum is None:
            maximum = torch.full_like(entries[..., 0], -torch.inf)
            total = torch.zeros_like(maximum)
        new_maximum = torch.maximum(maximum, entries.detach().amax(-1))
        shift = _finite(new_maximum)
        fresh = torch.exp(entries - shift.unsqueeze(-1)).sum(-1)
        total = total * torch.exp(maximum - shift) + fresh
        maximum = new_maximum
    return maximum.to(block.dtype), total.to(block.dtype)
