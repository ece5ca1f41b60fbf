"""Treats the blocks as a list, and fails for a generator.

Exercise: online_softmax
Believes: An iterable is a list.
Shows: An error for a generator.
Hint: A `for` loop works with anything that gives one block after the other. What can the start be,
    so that the first block needs no special care?
Rejected by: test_read_once
Costs: 20 %
"""


def online_softmax(blocks):
    dtype = _wide(blocks[0].dtype)
    maximum = blocks[0].amax(-1).to(dtype)
    total = torch.exp(blocks[0].to(dtype) - _finite(maximum).unsqueeze(-1)).sum(-1)
    for block in blocks[1:]:
        new_maximum = torch.maximum(maximum, block.amax(-1).to(dtype))
        shift = _finite(new_maximum)
        total = total * torch.exp(maximum - shift)
        total = total + torch.exp(block.to(dtype) - shift.unsqueeze(-1)).sum(-1)
        maximum = new_maximum
    return maximum.to(blocks[0].dtype), total.to(blocks[0].dtype)
