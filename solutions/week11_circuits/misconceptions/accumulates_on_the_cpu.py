"""Creates a tensor on the CPU.

Exercise: logit_attribution
Believes: New tensors are where the data are.
Shows: An error on a GPU.
Hint: On which device is a tensor that you create?
Rejected by: test_device
Costs: 15 %
"""


def logit_attribution(terms, unembed, targets, others=None):
    directions = unembed[targets]
    if others is not None:
        directions = directions - unembed[others]
    found = torch.zeros(terms.shape[:-1], dtype=terms.dtype)
    return found + (terms * directions).sum(dim=-1)
