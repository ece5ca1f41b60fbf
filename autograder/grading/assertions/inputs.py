"""Seeded inputs for hidden tests: fresh per test, secret per course, the same for everyone."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any

import numpy as np
import torch

from ...worker.protocol.dtypes import DEFAULT_DTYPE, NOT_IN_NUMPY
from ...worker.protocol.values import TORCH_DTYPES

# Inputs that took long to find, by where a draw stood: a test that is played for every submission
# finds them again. The oldest goes first.
_found: OrderedDict[Hashable, tuple[torch.Tensor, Any]] = OrderedDict()
_MOST_FOUND = 256


class Draw:
    """Draws tensors in the test's dtype; `draw.array` draws numpy arrays.

    The seed is a hash of the course's secret and the test's name, so an input can neither be
    looked up nor memorised from another course, and two submissions meet the same inputs.
    """

    def __init__(self, secret: bytes, test: str, dtype: str) -> None:
        digest = hashlib.blake2b(test.encode(), key=secret[:64], digest_size=8).digest()
        self._rng = np.random.default_rng(int.from_bytes(digest, "little"))
        self._dtype = TORCH_DTYPES[dtype]
        self.array = DrawArray(self._rng, dtype)

    def found(self, search: Callable[[], torch.Tensor], *given: Hashable) -> torch.Tensor:
        """What a search draws that depends on nothing but this draw and what it is `given`.

        It is made once for each place where a draw may stand; the draw then goes on behind it.
        """
        state = self._rng.bit_generator.state
        key = repr(state), self._dtype, given
        if key not in _found:
            while len(_found) >= _MOST_FOUND:
                _found.popitem(last=False)
            _found[key] = search(), self._rng.bit_generator.state
        x, self._rng.bit_generator.state = _found[key]
        return x.clone()

    def normal(self, *shape: int, std: float = 1.0, mean: float = 0.0) -> torch.Tensor:
        """Normal entries of the given standard deviation."""
        return torch.from_numpy(self._rng.normal(mean, std, shape)).to(self._dtype)

    def uniform(self, *shape: int, low: float = 0.0, high: float = 1.0) -> torch.Tensor:
        """Entries between `low` and `high`, each as likely as any other."""
        return torch.from_numpy(self._rng.uniform(low, high, shape)).to(self._dtype)

    def integers(self, low: int, high: int, *shape: int) -> torch.Tensor:
        """int64 entries in low..high-1."""
        return torch.from_numpy(np.asarray(self._rng.integers(low, high, shape)))

    def bools(self, *shape: int, p: float = 0.5) -> torch.Tensor:
        """True with probability p."""
        return torch.from_numpy(np.asarray(self._rng.random(shape) < p))

    def permutation(self, n: int) -> torch.Tensor:
        """The numbers 0..n-1 in any order."""
        return torch.from_numpy(self._rng.permutation(n))

    def seed(self) -> int:
        """A number for a generator of the test's own."""
        return int(self._rng.integers(2**31))

    def like(self, shape: tuple[int, ...], dtype: torch.dtype, std: float = 1.0) -> torch.Tensor:
        """Normal entries of another dtype, for weights and cotangents."""
        return torch.from_numpy(np.asarray(self._rng.normal(0.0, std, shape))).to(dtype)


class DrawArray:
    """The numpy counterparts of `Draw`."""

    def __init__(self, rng: np.random.Generator, dtype: str) -> None:
        self._rng = rng
        self._dtype = DEFAULT_DTYPE if dtype in NOT_IN_NUMPY else dtype

    def normal(self, *shape: int, std: float = 1.0, mean: float = 0.0) -> Any:
        """Normal entries of the given standard deviation."""
        return self._rng.normal(mean, std, shape).astype(self._dtype)

    def uniform(self, *shape: int, low: float = 0.0, high: float = 1.0) -> Any:
        """Entries between `low` and `high`, each as likely as any other."""
        return self._rng.uniform(low, high, shape).astype(self._dtype)

    def integers(self, low: int, high: int, *shape: int) -> Any:
        """int64 entries in low..high-1."""
        return self._rng.integers(low, high, shape)

    def bools(self, *shape: int, p: float = 0.5) -> Any:
        """True with probability p."""
        return self._rng.random(shape) < p

    def permutation(self, n: int) -> Any:
        """The numbers 0..n-1 in any order."""
        return self._rng.permutation(n)
