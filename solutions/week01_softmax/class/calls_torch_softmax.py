"""Has torch do the exercise. Expected: `softmax` is forbidden and earns nothing."""

import torch


def softmax(x: torch.Tensor, dim: int = -1) -> torch.Tensor:
    return torch.softmax(x, dim)
