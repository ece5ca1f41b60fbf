"""Two exercises, as small as they can be while touching every part of the kit.

Not allowed this week: calls of a library's `*softmax*` (`*` stands for anything), by whatever
alias. Such a call does the exercise for you, and costs all points of the exercise.

You may import Python's standard library, `torch`, `numpy` and `matplotlib`, and files of your
own that you hand in. Nothing else is there when your work is graded.
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
