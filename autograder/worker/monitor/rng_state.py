"""Read and seed the global random generators of torch, NumPy and Python.

States are compared before and after every call. NumPy's and Python's own functions take up to
100 µs to report a state, longer than most calls of a submission, so these two are read directly
from memory.
"""

from __future__ import annotations

import ctypes
import random
from functools import lru_cache
from typing import Any

import numpy as np
import torch

from ..torch_support.devices import random_states

_Memory = ctypes.Array[ctypes.c_char]
_OBJECT_HEAD = object.__basicsize__
_MT19937_BYTES = 4 * 624 + 4  # NumPy's mt19937_state: the key and the position
_PYTHON: Any = random.getstate.__self__  # type: ignore[attr-defined]  # a bound method
_NUMPY: Any = np.random.get_state.__self__  # type: ignore[attr-defined]  # a bound method


def states() -> tuple[object, ...]:
    """Return the states of the generators of torch, NumPy and Python, for comparison."""
    return _torch_state(), _numpy_state(), _python_state()


def seed_all() -> None:
    """Seed all generators as at the start of a test; skip those that are already in that state."""
    for library, (state, seed) in _LIBRARIES.items():
        if library not in _seeded or state() != _seeded[library]:
            seed(0)
            _seeded[library] = state()
    if torch.cuda.is_initialized():
        torch.cuda.manual_seed_all(0)


def _torch_state() -> tuple[bytes, ...]:
    every = torch.default_generator.get_state(), *random_states()
    return tuple(x.numpy().tobytes() for x in every)


def _numpy_state() -> tuple[object, ...]:
    """Return the id and state of NumPy's global generator, and its cached normal sample."""
    generator = np.random.get_bit_generator()  # type: ignore[attr-defined]  # not in its stubs
    if type(generator) is not np.random.MT19937:
        return id(generator), repr(_NUMPY.get_state(legacy=False))
    return id(generator), _numpy_memory(generator).raw, _cached_normal(_around_numpy.raw)


@lru_cache(maxsize=1)  # keeps the generator alive, and with it the address
def _numpy_memory(generator: Any) -> _Memory:
    return _memory(int(generator.ctypes.state_address), _MT19937_BYTES)


@lru_cache(maxsize=1)  # read again only if the object around the generator has changed
def _cached_normal(_: bytes) -> tuple[object, ...]:
    state = _NUMPY.get_state(legacy=False)
    return state["has_gauss"], state["gauss"]


def _python_state() -> tuple[object, ...]:
    return _python_memory.raw, _PYTHON.gauss_next


def _memory(address: int, size: int) -> _Memory:
    return (ctypes.c_char * size).from_address(address)


def _fields_of(thing: Any, layout: type) -> _Memory:
    """Return the memory of a C object after its header; `layout` determines the size."""
    return _memory(id(thing) + _OBJECT_HEAD, layout.__basicsize__ - _OBJECT_HEAD)


_python_memory = _fields_of(_PYTHON, random.Random.__base__)  # type: ignore[arg-type]  # C's Random
_around_numpy = _fields_of(_NUMPY, type(_NUMPY))
_LIBRARIES: dict[str, tuple[Any, Any]] = {
    "torch": (
        lambda: torch.default_generator.get_state().numpy().tobytes(),
        torch.default_generator.manual_seed,
    ),
    "numpy": (_numpy_state, np.random.seed),
    "python": (_python_state, _PYTHON.seed),
}
_seeded: dict[str, object] = {}  # states directly after seeding
