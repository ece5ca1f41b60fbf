"""Shared fixtures of `fit` and `generate`: a model that uses no other exercise.

A mistake in another exercise, such as the table of positions, should not cost points here. For the
submission and the solution, the model consists of torch's layers and the stub's attention.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Pair = Any


@pytest.fixture
def injected(agree: Any) -> Any:
    """Return injected.py's models, such as `Watched`, which records whether gradients are on."""
    return agree.bringing(Path(__file__).with_name("injected.py").read_text(encoding="utf-8"))


@pytest.fixture
def language_model(agree: Any, draw: Any) -> Callable[..., Pair]:
    """Return a function that creates a model: ids (B, T) -> logits (B, T, vocabulary).

    The model is an embedding, a causal attention with the given dropout, and a linear layer, with
    drawn weights in the test's dtype. Its attribute `max_len` does not limit the length of ids.
    `near` is the absolute tolerance of comparisons; 0 selects the default tolerance.
    """

    def make(
        vocabulary: int, max_len: int = 8, dropout: float = 0.0, device: Any = None, near: float = 0
    ) -> Pair:
        freely = agree.impurely  # a new layer draws random numbers, which are replaced below
        kind = {"dtype": draw.normal(1).dtype} | ({} if device is None else {"device": device})
        layers = (
            freely.call("torch.nn.Embedding", vocabulary, 8, **kind),
            agree.CausalSelfAttention(8, 2, dropout),
            freely.call("torch.nn.Linear", 8, vocabulary, **kind),
        )
        tolerant = freely.within(atol=near) if near else freely
        model = tolerant.call("torch.nn.Sequential", *layers)
        shapes = {name: value.shape for name, value in model.reference.state_dict().items()}
        model.load_state_dict({n: draw.normal(*s, std=0.8) for n, s in shapes.items()})
        model.impurely.call("__setattr__", "max_len", max_len)
        return model

    return make
