"""Adds up the blocks in their own dtype.

Exercise: online_softmax
Believes: addition gives the same result in every dtype.
Shows: in bfloat16, a sum of 256 no longer grows by 1: the sum is too small for rows of many blocks.
Hint: What is 256 + 1 in bfloat16? Which dtype can hold a sum of hundreds of numbers?
Rejected by: test_many_blocks_in_half_precision
Costs: 15 %
"""


def online_softmax(blocks):
    maximum = total = None
    for entries in blocks:
        largest = entries.amax(dim=-1)
        new_maximum = largest if maximum is None else torch.maximum(maximum, largest)
        shift = _finite(new_maximum)
        new_total = torch.exp(entries - shift.unsqueeze(-1)).sum(dim=-1)
        if total is not None:
            new_total = new_total + total * torch.exp(maximum - shift)
        maximum, total = new_maximum, new_total
    return maximum, total
