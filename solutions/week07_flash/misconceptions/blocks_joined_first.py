"""Collects all the blocks before it starts.

Exercise: online_softmax
Believes: The blocks have to be together for their maximum.
Shows: Right results, with all entries in memory at a time.
Hint: The point is never to have two blocks at a time. What are the two numbers per row that must
    survive a block?
Rejected by: test_one_pass
Costs: 90 %
"""


def online_softmax(blocks):
    joined = torch.cat(list(blocks), dim=-1)
    entries = joined.to(_wide(joined.dtype))
    maximum = entries.amax(-1)
    total = torch.exp(entries - _finite(maximum).unsqueeze(-1)).sum(-1)
    return maximum.to(joined.dtype), total.to(joined.dtype)
