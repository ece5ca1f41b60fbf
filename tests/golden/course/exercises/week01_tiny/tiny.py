"""Two exercises, as small as they can be while touching every part of the kit.

Not allowed this week: calls of a library's `*softmax*` (`*` matches anything), under any alias.
Such a call does the exercise for you and costs all of its points.

You may import Python's standard library, `torch`, `numpy` and `matplotlib`, and files that you
submit. Other libraries are not available during grading.
"""

import torch
from torch import nn


def weigh(x: torch.Tensor, dim: int = -1) -> torch.Tensor:
    """Positive weights that sum to 1 over `dim`."""
    raise NotImplementedError("weigh")


class Scale(nn.Module):
    """Multiplies by a learned `factor` of shape (size,)."""

    def __init__(self, size: int) -> None:
        super().__init__()
        raise NotImplementedError("Scale.__init__")

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        raise NotImplementedError("Scale.forward")
