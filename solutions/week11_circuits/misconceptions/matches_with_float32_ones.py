"""Mixes the weights with a float32 tensor.

Exercise: induction_score
Believes: A product has the dtype of its first factor.
Shows: bfloat16 weights give a float32 score, float64 weights the right one.
Hint: Which dtype has a product of bfloat16 and float32 tensors?
Rejected by: test_dtypes
Costs: 15 %
"""


def induction_score(weights, ids):
    matches = torch.zeros(weights[:, 0].shape, device=weights.device)
    matches[:, :, 1:] = (ids[:, :, None] == ids[:, None, :-1]).float()
    matches = matches.tril()
    counted = matches.sum(dim=-1) > 0
    if not counted.any():
        raise ValueError("no key matches")
    sums = (weights * matches[:, None]).sum(dim=-1)
    return (sums * counted[:, None]).sum(dim=(0, 2)) / counted.sum()
