"""Returns scores on the CPU.

Exercise: copying_score
Believes: Eigenvalues are computed on the CPU.
Shows: The scores are not on the device of the weights.
Hint: On which device is your result?
Rejected by: test_device
Costs: 15 %
"""


def copying_score(embed, W_V, W_O, unembed):
    small = (unembed @ W_O).mT @ (embed @ W_V.mT)
    found = torch.linalg.eigvals(small)
    size = found.abs().sum(dim=-1)
    score = found.real.sum(dim=-1) / size.where(size > 0, 1.0)
    return score.cpu()
