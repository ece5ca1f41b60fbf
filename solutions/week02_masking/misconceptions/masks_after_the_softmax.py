"""Sets hidden weights to zero after the softmax, so that the rest no longer sums to 1.

Exercise: masked_softmax
Believes: zeroing weights is the same as hiding scores.
Shows: hidden entries are 0, but the sums are below 1.
Hint: Add up a row of your weights. Who still got a share while the softmax was dividing?
Rejected by: test_values
Costs: 35 %
Belief: masks_after_the_softmax
"""


def masked_softmax(scores, mask, dim=-1):
    return torch.softmax(scores, dim=dim) * mask
