"""The global random generators: whether they are as they were, and seeded as every test begins.

Theory of operation. To ask a library for the state of its generator takes longer than most calls
of a submission, and it is asked for before and after each. So the memory that holds a state is
looked at where it lies: while not a byte of it changed, the state is what it was when it was last
asked for. Where one did, the library is asked; so memory that holds more than the state (padding,
what a distribution keeps for its next numbers) never tells of a change that there was not.
"""

from __future__ import annotations

import ctypes
import random
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
import torch

from ..torch_support.devices import random_states

_Memory = ctypes.Array[ctypes.c_char]
_HEAD = object.__basicsize__


class NotedState:
    """A state that is asked for anew once the memory that holds it changed."""

    def __init__(self, memory: _Memory, ask: Callable[[], object]) -> None:
        self._memory, self._ask = memory, ask
        self._bytes: Any = bytearray(memory)
        self._state = ask()

    def __call__(self) -> object:
        # a bytearray compares itself with the memory in place, and copies nothing
        if self._bytes != self._memory:
            self._bytes, self._state = bytearray(self._memory), self._ask()
        return self._state


class _States:
    """All states, as they were just asked for, while nothing of what holds them changes."""

    def __init__(self, generator: Any, states: tuple[object, ...]) -> None:
        self._numpy, self.states = generator, states
        self._memories: list[tuple[Any, _Memory]] = []
        for noted in (_on_cpu, _python, *_numpy_memories(generator)):
            assert isinstance(noted, NotedState)
            self._memories.append((noted._bytes, noted._memory))
        self._gauss = _PYTHON.gauss_next

    def hold(self) -> bool:
        for was, memory in self._memories:
            if was != memory:
                return False
        return (
            np.random.get_bit_generator() is self._numpy  # type: ignore[attr-defined]
            and _PYTHON.gauss_next is self._gauss
            and not torch.cuda.is_initialized()
        )


_known: list[_States] = []  # at most one


def states() -> tuple[object, ...]:
    """The states of torch's generators, NumPy's and Python's, to be compared."""
    if _known and _known[0].hold():
        return _known[0].states
    found = torch_state(), numpy_state(), python_state()
    generator = np.random.get_bit_generator()  # type: ignore[attr-defined]  # not in its stubs
    if isinstance(_on_cpu, NotedState) and type(generator) is np.random.MT19937:
        _known[:] = [_States(generator, found)]
    return found


def begin() -> None:
    """Each test finds them seeded; nothing is done for those that are as seeding leaves them."""
    for number, (state, seed) in enumerate(_SEEDED):
        if _seeded[number] is None or state() != _seeded[number]:
            seed(0)
            _seeded[number] = state()
    if torch.cuda.is_initialized():
        torch.cuda.manual_seed_all(0)


def torch_state() -> tuple[object, tuple[bytes, ...]]:
    gpus = random_states()
    return _on_cpu(), tuple(x.numpy().tobytes() for x in gpus) if gpus else ()


# torch's CPUGeneratorImpl, after much else: seed (8 bytes), two numbers and the position (12), the
# 624 words of mt19937, then the second of a pair of normal numbers, as float and as double (28).
_WORDS = 4 * 624
_BEFORE, _AFTER, _MOST_ELSE = 20, 28, 160
_TORCH: Any = torch.default_generator


def _torch_bytes() -> bytes:
    state: bytes = _TORCH.get_state().numpy().tobytes()
    return state


def _torch_memory() -> _Memory | None:
    """Where the state of torch's generator lies; None if it is not found as described."""
    words = np.frombuffer(_torch_bytes(), np.uint64, 624, offset=24).astype(np.uint32)
    around = ctypes.string_at(_TORCH._cdata, _MOST_ELSE + _WORDS)
    at = around.find(words.tobytes())
    if at < _BEFORE:
        return None
    return _memory(_TORCH._cdata + at - _BEFORE, _BEFORE + _WORDS + _AFTER)


def numpy_state() -> object:
    """Which generator is the global one, and its state."""
    return _state_of(np.random.get_bit_generator())  # type: ignore[attr-defined]  # not in its stubs


def _state_of(generator: Any) -> object:
    if type(generator) is not np.random.MT19937:
        return id(generator), repr(_RANDOM_STATE.get_state(legacy=False))
    own, kept = _numpy_memories(generator)
    return id(generator), own(), kept()


# numpy's mt19937_state is key[624] and pos. The second of a pair of normal numbers is kept outside
# of it, in the object behind `np.random.randn`, of which all is looked at.
_MT19937_BYTES = 4 * 624 + 4
_RANDOM_STATE: Any = np.random.get_state.__self__  # type: ignore[attr-defined]  # a bound method


@lru_cache(maxsize=1)  # which holds the generator, so that its address stays its own
def _numpy_memories(generator: Any) -> tuple[NotedState, NotedState]:
    state = _memory(int(generator.ctypes.state_address), _MT19937_BYTES)
    own = type(_RANDOM_STATE).__basicsize__ - _HEAD
    return (
        NotedState(state, lambda: state.raw),
        NotedState(_memory(id(_RANDOM_STATE) + _HEAD, own), _kept_normal),
    )


def _kept_normal() -> object:
    state = _RANDOM_STATE.get_state(legacy=False)
    return state["has_gauss"], state["gauss"]


# CPython's RandomObject: after the object's head, 624 words and the position. `getstate` makes a
# tuple of as many numbers.
_PYTHON: Any = random.getstate.__self__  # type: ignore[attr-defined]  # a bound method
_PYTHON_BYTES = random.Random.__base__.__basicsize__ - _HEAD  # type: ignore[union-attr]  # C's Random


def python_state() -> object:
    """The state of the generator behind `random.random`."""
    return _python(), _PYTHON.gauss_next


def _memory(address: int, size: int) -> _Memory:
    """Bytes as they lie somewhere; to read them is no word to audit hooks."""
    return (ctypes.c_char * size).from_address(address)


_python_memory = _memory(id(_PYTHON) + _HEAD, _PYTHON_BYTES)
_python = NotedState(_python_memory, lambda: _python_memory.raw)
_found = _torch_memory()
_on_cpu: Callable[[], object] = NotedState(_found, _torch_bytes) if _found else _torch_bytes
_SEEDED: tuple[tuple[Callable[[], object], Callable[[int], object]], ...] = (
    (_on_cpu, _TORCH.manual_seed),
    (numpy_state, np.random.seed),
    (python_state, _PYTHON.seed),
)
_seeded: list[object] = [None] * len(_SEEDED)  # the states that seeding leaves
