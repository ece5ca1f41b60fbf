"""How much a value holds: what a program that goes on with it will have to do at least."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch


def size_of(value: Any) -> int:
    """The numbers and letters in a value; an axis of 0 counts as 1, and an integer as what it says.

    An integer may become the length of an axis, and an empty tensor's axes those of a full one.
    """
    if isinstance(value, (torch.Tensor, np.ndarray)):
        return math.prod(max(n, 1) for n in value.shape)
    if isinstance(value, int):
        return max(1, abs(value))
    if isinstance(value, str):
        return 1 + len(value)
    if isinstance(value, dict):
        return 1 + sum(map(size_of, (*value.keys(), *value.values())))
    if isinstance(value, (tuple, list)):
        return 1 + sum(map(size_of, value))
    return 1
