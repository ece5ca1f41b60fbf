"""Two exercises, as small as they can be while touching every part of the kit."""

import torch
from torch import nn


def weigh(x: torch.Tensor, dim: int = -1) -> torch.Tensor:
    """Positive weights that sum to 1 over `dim`."""
    # BEGIN SOLUTION
    e = torch.exp(x - x.amax(dim, keepdim=True))
    return e / e.sum(dim, keepdim=True)
    # END SOLUTION


class Scale(nn.Module):
    """Multiplies by a learned `factor` of shape (size,)."""

    def __init__(self, size: int) -> None:
        super().__init__()
        # BEGIN SOLUTION
        if size < 1:
            raise ValueError(f"size must be positive, but is {size}")
        self.factor = nn.Parameter(torch.ones(size))
        # END SOLUTION

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        # BEGIN SOLUTION
        return x * self.factor
        # END SOLUTION
