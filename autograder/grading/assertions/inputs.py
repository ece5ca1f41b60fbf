"""Draw the random inputs of hidden tests, which are secret and the same for all submissions."""

import hashlib
from collections.abc import Callable, Hashable
from typing import Any, Generic, TypeVar

import numpy as np
import torch

from ...worker.protocol.dtypes import DEFAULT_DTYPE, NOT_IN_NUMPY
from ...worker.protocol.values import TORCH_DTYPES

# The results of slow searches for inputs, by the state of the generator before the search. Without
# this cache, a test would repeat its search for every submission.
_found: dict[Hashable, tuple[torch.Tensor, Any]] = {}
_MOST_FOUND = 256


Array = TypeVar("Array")


class _Draws(Generic[Array]):
    """Draws random arrays of one library.

    floats: converts drawn numbers to an array of the test's dtype
    exact:  converts drawn integers or booleans to an array
    """

    def __init__(
        self,
        rng: np.random.Generator,
        floats: Callable[[Any], Array],
        exact: Callable[[Any], Array],
    ) -> None:
        self._rng, self._floats, self._exact = rng, floats, exact

    def normal(self, *shape: int, std: float = 1.0, mean: float = 0.0) -> Array:
        """Draw normal entries with this mean and standard deviation."""
        return self._floats(self._rng.normal(mean, std, shape))

    def uniform(self, *shape: int, low: float = 0.0, high: float = 1.0) -> Array:
        """Draw uniform entries between `low` and `high`."""
        return self._floats(self._rng.uniform(low, high, shape))

    def integers(self, low: int, high: int, *shape: int) -> Array:
        """Draw int64 entries from `low` to `high - 1`."""
        return self._exact(self._rng.integers(low, high, shape))

    def bools(self, *shape: int, p: float = 0.5) -> Array:
        """Draw booleans, True with probability p."""
        return self._exact(self._rng.random(shape) < p)

    def permutation(self, n: int) -> Array:
        """Draw a permutation of 0..n-1."""
        return self._exact(self._rng.permutation(n))


class DrawArray(_Draws[Any]):
    """Draws NumPy arrays, in the default dtype if NumPy lacks the test's dtype."""

    def __init__(self, rng: np.random.Generator, dtype: str) -> None:
        dtype = DEFAULT_DTYPE if dtype in NOT_IN_NUMPY else dtype
        super().__init__(rng, lambda x: x.astype(dtype), lambda x: x)


class Draw(_Draws[torch.Tensor]):
    """Draws tensors in the test's dtype; `draw.array` draws NumPy arrays.

    The seed is a hash of the course's secret and the test's name. Therefore, all submissions get
    the same inputs, but students can neither guess the inputs nor find them in another course.
    """

    def __init__(self, secret: bytes, test: str, dtype: str) -> None:
        digest = hashlib.blake2b(test.encode(), key=secret[:64], digest_size=8).digest()
        rng = np.random.default_rng(int.from_bytes(digest, "little"))
        self._dtype = TORCH_DTYPES[dtype]
        super().__init__(rng, lambda x: _tensor(x).to(self._dtype), _tensor)
        self.array = DrawArray(rng, dtype)

    def found(self, search: Callable[[], torch.Tensor], *given: Hashable) -> torch.Tensor:
        """Run a slow search only once, and return a copy of its result.

        The search may depend only on draws and on `given`. Later draws continue from the state in
        which the search left the generator.
        """
        key = repr(self._rng.bit_generator.state), self._dtype, given
        if key not in _found:
            while len(_found) >= _MOST_FOUND:
                del _found[next(iter(_found))]
            _found[key] = search(), self._rng.bit_generator.state
        x, self._rng.bit_generator.state = _found[key]
        return x.clone()

    def seed(self) -> int:
        """Draw a seed for a generator that the test creates."""
        return int(self._rng.integers(2**31))

    def like(self, shape: tuple[int, ...], dtype: torch.dtype, std: float = 1.0) -> torch.Tensor:
        """Draw normal entries in a given dtype, for weights and cotangents."""
        return _tensor(self._rng.normal(0.0, std, shape)).to(dtype)


def _tensor(drawn: Any) -> torch.Tensor:
    return torch.from_numpy(np.asarray(drawn))
