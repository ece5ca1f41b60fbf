"""Mixes the weights with a float32 tensor.

Exercise: previous_token_score
Believes: A product has the dtype of its first factor.
Shows: bfloat16 weights give a float32 score, float64 weights the right one.
Hint: Which dtype has a product of bfloat16 and float32 tensors?
Rejected by: test_dtypes
Costs: 15 %
"""


def previous_token_score(weights):
    length = weights.shape[-1]
    if length < 2:
        raise ValueError(f"length: {length}")
    chosen = torch.ones(length - 1, device=weights.device).diag(-1)
    return (weights * chosen).sum(dim=(-2, -1)).mean(dim=0) / (length - 1)
