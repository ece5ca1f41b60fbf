"""Creates a tensor on the CPU.

Exercise: previous_token_score
Believes: New tensors are where the data are.
Shows: An error on a GPU.
Hint: On which device is a tensor that you create?
Rejected by: test_device
Costs: 15 %
"""


def previous_token_score(weights):
    length = weights.shape[-1]
    if length < 2:
        raise ValueError(f"length: {length}")
    mask = torch.eye(length, dtype=weights.dtype).roll(-1, dims=1).tril()
    return (weights * mask).sum(dim=(0, 2, 3)) / (len(weights) * (length - 1))
