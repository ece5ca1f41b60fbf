"""Two exercises, as small as they can be while touching every part of the kit."""

import torch
from torch import nn


def weigh(x: torch.Tensor, dim: int = -1) -> torch.Tensor:
    """Positive weights that sum to 1 over `dim`."""
    # BEGIN SOLUTION
    e = torch.exp(x - x.amax(dim, keepdim=True))
    return e / e.sum(dim, keepdim=True)
    # END SOLUTION


