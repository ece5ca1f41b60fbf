"""A layer of the language model in assets/model, for the graders of this week."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch


@pytest.fixture
def trained_heads(draw: Any) -> torch.Tensor:
    """Draw a layer of the course's language model: the outputs (1, H, T, d) of its heads."""
    with np.load(Path(__file__).with_name("trained.npz")) as file:
        outputs = torch.tensor(file["output"])
    layer = int(draw.integers(0, len(outputs)))
    return outputs[layer : layer + 1]
