"""Goes through the blocks twice: for the maximum, then for the sum.

Exercise: online_softmax
Believes: The maximum must be known before any sum can be computed.
Shows: Right for a list; a generator is used up after the first time, and the sum is 0.
Hint: A generator yields each block only once. What can be done to a sum when its reference
    turns out too small?
Rejected by: test_read_once
Costs: 35 %
"""


def online_softmax(blocks):
    maximum = None
    for block in blocks:
        top = block.amax(-1)
        maximum = top if maximum is None else torch.maximum(maximum, top)
    dtype = _wide(maximum.dtype)
    shift = _finite(maximum).to(dtype)
    total = torch.zeros_like(shift)
    for block in blocks:
        total = total + torch.exp(block.to(dtype) - shift.unsqueeze(-1)).sum(-1)
    return maximum, total.to(maximum.dtype)
