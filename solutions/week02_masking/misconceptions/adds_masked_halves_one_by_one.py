"""Adds the exponentials up one after the other, in their own type.

Exercise: masked_softmax
Believes: addition gives the same result in any order and dtype.
Shows: in half precision a sum of 2048 no longer grows by 1: long rows sum to more than 1.
Hint: What is 2048 + 1 in float16? Which type should a sum of thousands have while it grows?
Rejected by: test_long_rows
Costs: 20 %
"""


def masked_softmax(scores, mask, dim=-1):
    hidden = ~mask
    filled = scores.masked_fill(hidden, torch.finfo(scores.dtype).min)
    exponentials = torch.exp(filled - filled.amax(dim, keepdim=True).detach())
    exponentials = exponentials.masked_fill(hidden, 0.0)
    total, *rest = exponentials.unbind(dim)
    for entries in rest:
        total = total + entries
    total = total.masked_fill(total == 0, 1.0).unsqueeze(dim)
    return exponentials / total
