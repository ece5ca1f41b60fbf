"""Stacks the blocks, so that they all have to have one width.

Exercise: online_softmax
Believes: All blocks are equally wide.
Shows: An error as soon as the widths differ.
Hint: The last block of a long row is usually shorter. Can you do with one block at a time?
Rejected by: test_widths
Costs: 25 %
"""


def online_softmax(blocks):
    stacked = torch.stack(list(blocks), dim=-1)
    entries = stacked.to(_wide(stacked.dtype)).flatten(-2)
    maximum = entries.amax(-1)
    total = torch.exp(entries - _finite(maximum).unsqueeze(-1)).sum(-1)
    return maximum.to(stacked.dtype), total.to(stacked.dtype)
