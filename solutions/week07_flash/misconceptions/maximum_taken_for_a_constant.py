"""Lets no gradient flow through the maximum inside the exponentials.

Exercise: online_softmax
Believes: The shift is a constant.
Shows: The values are right; the sum's gradient lacks the part that comes through the maximum.
Hint: Raise the largest number of a row a little: what happens to the sum of exp(x - maximum)? And
    to your gradient?
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
        new_maximum = torch.maximum(maximum, entries.amax(-1))
        shift = _finite(new_maximum).detach()
        fresh = torch.exp(entries - shift.unsqueeze(-1)).sum(-1)
        total = total * torch.exp(maximum.detach() - shift) + fresh
        maximum = new_maximum
    return maximum.to(block.dtype), total.to(block.dtype)
