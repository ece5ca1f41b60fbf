"""A head of the language model in assets/model, for the graders of this week."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch


@pytest.fixture
def trained_head(draw: Any) -> tuple[torch.Tensor, ...]:
    """Draw a head of the course's language model: its q, k and v (T, d) on a sentence."""
    with np.load(Path(__file__).with_name("trained.npz")) as file:
        heads = {name: torch.tensor(file[name]) for name in ("q", "k", "v")}
    layer, head = (int(draw.integers(0, size)) for size in heads["q"].shape[:2])
    group = heads["q"].shape[1] // heads["k"].shape[1]
    return (
        heads["q"][layer, head],
        heads["k"][layer, head // group],
        heads["v"][layer, head // group],
    )
