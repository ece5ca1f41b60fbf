"""Reshapes the blocks with `view`, which fails unless they are contiguous.

Exercise: online_softmax
Believes: A tensor's memory order follows its shape.
Shows: An error for transposed or expanded blocks.
Hint: Most functions work along the last axis for any leading axes; `reshape` copies if
    necessary.
Rejected by: test_views
Costs: 20 %
Belief: contiguous_input
"""


def online_softmax(blocks):
    maximum = total = None
    for block in blocks:
        lead = block.shape[:-1]
        entries = block.to(_wide(block.dtype)).view(-1, block.shape[-1])
        if maximum is None:
            maximum = torch.full_like(entries[..., 0], -torch.inf)
            total = torch.zeros_like(maximum)
        new_maximum = torch.maximum(maximum, entries.amax(-1))
        shift = _finite(new_maximum)
        fresh = torch.exp(entries - shift.unsqueeze(-1)).sum(-1)
        total = total * torch.exp(maximum - shift) + fresh
        maximum = new_maximum
    return maximum.to(block.dtype).reshape(lead), total.to(block.dtype).reshape(lead)
