"""Ends its own process, as a bug in native code would. Expected: only `logsumexp` is lost."""

import os

import torch


def logsumexp(x: torch.Tensor, dim: int = -1, keepdim: bool = False) -> torch.Tensor:
    os.abort()
