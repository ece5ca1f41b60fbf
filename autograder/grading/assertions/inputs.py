"""Random inputs for hidden tests: secret per course, the same for every submission."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Hashable
from typing import Any

import numpy as np
import torch

from ...worker.protocol.dtypes import DEFAULT_DTYPE, NOT_IN_NUMPY
from ...worker.protocol.values import TORCH_DTYPES

# Inputs that took a long search, by the state of the generator before it. A test that runs for
# every submission searches only once.
_found: dict[Hashable, tuple[torch.Tensor, Any]] = {}
_MOST_FOUND = 256


class Draw:
    """Draw tensors in the test's dtype; `draw.array` draws NumPy arrays.

    The seed is a hash of the course's secret and the test's name. So inputs can be neither looked
    up nor memorised from another course, and all submissions get the same inputs.
    """

    def __init__(self, secret: bytes, test: str, dtype: str) -> None:
        digest = hashlib.blake2b(test.encode(), key=secret[:64], digest_size=8).digest()
        self._rng = np.random.default_rng(int.from_bytes(digest, "little"))
        self._dtype = TORCH_DTYPES[dtype]
        self.array = DrawArray(self._rng, dtype)

    def found(self, search: Callable[[], torch.Tensor], *given: Hashable) -> torch.Tensor:
        """Return the result of a slow search that depends only on this draw and on `given`.

        The search runs once for each state of the generator; later draws continue after it.
        """
        key = repr(self._rng.bit_generator.state), self._dtype, given
        if key not in _found:
            while len(_found) >= _MOST_FOUND:
                del _found[next(iter(_found))]
            _found[key] = search(), self._rng.bit_generator.state
        x, self._rng.bit_generator.state = _found[key]
        return x.clone()

    def normal(self, *shape: int, std: float = 1.0, mean: float = 0.0) -> torch.Tensor:
        """Draw normal entries of the given standard deviation."""
        return torch.from_numpy(self._rng.normal(mean, std, shape)).to(self._dtype)

    def uniform(self, *shape: int, low: float = 0.0, high: float = 1.0) -> torch.Tensor:
        """Draw uniform entries between `low` and `high`."""
        return torch.from_numpy(self._rng.uniform(low, high, shape)).to(self._dtype)

    def integers(self, low: int, high: int, *shape: int) -> torch.Tensor:
        """Draw int64 entries in low..high-1."""
        return torch.from_numpy(np.asarray(self._rng.integers(low, high, shape)))

    def bools(self, *shape: int, p: float = 0.5) -> torch.Tensor:
        """Draw booleans, True with probability p."""
        return torch.from_numpy(np.asarray(self._rng.random(shape) < p))

    def permutation(self, n: int) -> torch.Tensor:
        """Draw a permutation of 0..n-1."""
        return torch.from_numpy(self._rng.permutation(n))

    def seed(self) -> int:
        """Draw a seed for a generator of the test's own."""
        return int(self._rng.integers(2**31))

    def like(self, shape: tuple[int, ...], dtype: torch.dtype, std: float = 1.0) -> torch.Tensor:
        """Draw normal entries in a given dtype, for weights and cotangents."""
        return torch.from_numpy(np.asarray(self._rng.normal(0.0, std, shape))).to(dtype)


class DrawArray:
    """Draw NumPy arrays, as `Draw` draws tensors."""

    def __init__(self, rng: np.random.Generator, dtype: str) -> None:
        self._rng = rng
        self._dtype = DEFAULT_DTYPE if dtype in NOT_IN_NUMPY else dtype

    def normal(self, *shape: int, std: float = 1.0, mean: float = 0.0) -> Any:
        """Draw normal entries of the given standard deviation."""
        return self._rng.normal(mean, std, shape).astype(self._dtype)

    def uniform(self, *shape: int, low: float = 0.0, high: float = 1.0) -> Any:
        """Draw uniform entries between `low` and `high`."""
        return self._rng.uniform(low, high, shape).astype(self._dtype)

    def integers(self, low: int, high: int, *shape: int) -> Any:
        """Draw int64 entries in low..high-1."""
        return self._rng.integers(low, high, shape)

    def bools(self, *shape: int, p: float = 0.5) -> Any:
        """Draw booleans, True with probability p."""
        return self._rng.random(shape) < p

    def permutation(self, n: int) -> Any:
        """Draw a permutation of 0..n-1."""
        return self._rng.permutation(n)
