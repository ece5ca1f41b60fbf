"""Creates a tensor on the CPU.

Exercise: induction_score
Believes: New tensors are where the data are.
Shows: An error on a GPU.
Hint: On which device is a tensor that you create?
Rejected by: test_device
Costs: 15 %
"""


def induction_score(weights, ids):
    matches = torch.zeros(weights[:, 0].shape, dtype=torch.bool)
    matches[:, :, 1:] = ids[:, :, None] == ids[:, None, :-1]
    matches = matches.tril()
    counted = matches.any(dim=-1)
    if not counted.any():
        raise ValueError("no key matches")
    sums = (weights * matches[:, None]).sum(dim=-1)
    total = (sums * counted[:, None]).sum(dim=(0, 2))
    return total / counted.sum()
