"""Fixtures for the tests of `fit` and `generate`: models that use no other exercise.

A mistake in another exercise, such as `sinusoidal_positions`, should not cost points here. The
models use torch's layers, and `language_model` also uses the attention provided in the stub.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Pair = Any


@pytest.fixture
def injected(agree: Any) -> Any:
    """Return an `agree` that can create the models of injected.py, such as `Watched`."""
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
