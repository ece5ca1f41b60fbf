"""Overwrites the blocks that it was given.

Exercise: online_softmax
Believes: The blocks are not needed any more.
Shows: The caller's blocks are changed, and gradients fail.
Hint: An operator that ends in =, or a method that ends in _, writes into its tensor. Which of yours
    does?
Rejected by: test_values
Costs: 20 %
Belief: changes_the_argument
"""


def online_softmax(blocks):
    maximum = total = None
    for block in blocks:
        entries = block if block.dtype.itemsize > 2 else block.float()
        if maximum is None:
            maximum = torch.full_like(entries[..., 0], -torch.inf)
            total = torch.zeros_like(maximum)
        new_maximum = torch.maximum(maximum, entries.amax(-1))
        shift = _finite(new_maximum)
        fresh = entries.sub_(shift.unsqueeze(-1)).exp().sum(-1)
        total = total * torch.exp(maximum - shift) + fresh
        maximum = new_maximum
    return maximum.to(block.dtype), total.to(block.dtype)
