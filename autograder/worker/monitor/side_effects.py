"""Detect changes that a call makes to its arguments and to the global state of the process."""

import ctypes
import random
import sys
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, Self

import numpy as np
import torch
from torch import nn
from torch._C import _len_torch_function_stack  # number of active torch function modes

from ..protocol.frames import Effect, SideEffect
from ..torch_support.devices import bare
from ..torch_support.fake_device import ClaimedTensor

# A seed that no submission is likely to use, because seeding with it again would change nothing.
SEED = 170603762


def seed_random() -> None:
    """Seed each random generator as at the start of a test, unless it is already in that state."""
    for library, (state, seed) in _SEEDED.items():
        if library not in _seeded or state() != _seeded[library]:
            seed(SEED)
            _seeded[library] = state()
    if torch.cuda.is_initialized():
        torch.cuda.manual_seed_all(SEED)


def random_states() -> tuple[object, ...]:
    """Return the random states of torch, NumPy and Python, in the order of `_RANDOM`."""
    return tuple(state() for state, _ in _SEEDED.values())


def _torch_state() -> bytes:
    state: bytes = _torch_generator.get_state().numpy().tobytes()
    if torch.cuda.is_initialized():
        state += b"".join(x.numpy().tobytes() for x in torch.cuda.get_rng_state_all())
    return state


def _numpy_state() -> tuple[object, ...]:
    """Return the id and state of NumPy's global generator, with the cached sample of an MT19937.

    For speed, `np.random.get_state` is called only if the state differs from the seeded state, in
    which there is no cached normal sample.
    """
    generator = _numpy_generator()
    if type(generator) is not np.random.MT19937:
        return id(generator), repr(generator.state)
    key = _numpy_key(generator).raw
    if key == _SEEDED_KEY:
        return id(generator), key, 0, 0.0
    state = _numpy_full_state(legacy=False)
    return id(generator), key, state["has_gauss"], state["gauss"]


def _memory(address: int, size: int) -> Any:
    """Return an object whose attribute `raw` copies `size` bytes from an address."""
    return (ctypes.c_char * size).from_address(address)


# NumPy and Python use mt19937, whose state consists of 624 words and a position. The memory is read
# directly, because the libraries' functions convert the words to objects, which takes longer than
# most calls of a submission.
_numpy_key = lru_cache(maxsize=1)(lambda g: _memory(g.ctypes.state_address, 4 * 625))
_python: Any = random.getstate.__self__  # type: ignore[attr-defined]  # it is a bound method
_HEAD = object.__basicsize__
_python_key = _memory(id(_python) + _HEAD, random.Random.__mro__[1].__basicsize__ - _HEAD)
# References to the originals, because a submission may replace them in their modules.
_torch_generator = torch.default_generator
_numpy_generator = np.random.get_bit_generator  # type: ignore[attr-defined]  # not in NumPy's stubs
_numpy_full_state: Any = np.random.get_state
_SEEDED_KEY = _numpy_key(np.random.RandomState(SEED)._bit_generator).raw
_SEEDED: dict[str, tuple[Callable[[], object], Callable[[int], object]]] = {
    "torch": (_torch_state, _torch_generator.manual_seed),
    "numpy": (_numpy_state, np.random.seed),
    "python": (lambda: (_python_key.raw, _python.gauss_next), random.seed),
}
_seeded: dict[str, object] = {}  # state of each generator directly after seeding


class Before:
    """A snapshot, taken before a call, of the arguments and settings that the call must not change.

    inputs: the decoded tensors among the arguments
    """

    def __init__(self, inputs: list[torch.Tensor], args: list[Any], kwargs: dict[str, Any]) -> None:
        self.tensors = [_Argument(x) for x in inputs]
        self.arrays: list[tuple[np.ndarray, bytes, tuple[int, ...]]] = []
        self.modules: list[tuple[nn.Module, dict[Effect, Any]]] = []
        for a in (*args, *kwargs.values()) if kwargs else args:
            if type(a) in _NEITHER:
                continue
            if isinstance(a, np.ndarray):
                self.arrays.append((a, a.tobytes(), a.shape))
            elif isinstance(a, nn.Module):
                self.modules.append((a, _settings(a)))
        self.random = random_states()
        self.settings = _global_settings()
        self.drawing = PyplotState.now()

    def compare(self, result: Any = None) -> tuple[SideEffect, ...]:
        """Return the side effects of the call, and restore the global settings."""
        found = []
        for number, argument in enumerate(self.tensors):
            effect = argument.effect()
            if effect is not None:
                found.append(SideEffect(effect, number + 1))
        for number, (a, old_bytes, old_shape) in enumerate(self.arrays):
            if a.shape != old_shape or a.tobytes() != old_bytes:
                found.append(SideEffect(Effect.ARRAY, number + 1))
        for module, settings in self.modules:
            now = _settings(module)
            found += [SideEffect(name) for name in settings if settings[name] != now[name]]
        states = random_states()
        if states != self.random:
            pairs = zip(_RANDOM, self.random, states, strict=True)
            found += [SideEffect(effect) for effect, was, is_now in pairs if was != is_now]
        current = _global_settings()
        for (setting, restore), before, now in zip(_RESTORE, self.settings, current, strict=True):
            if before != now:
                found.append(SideEffect(setting))
                restore(before)
        if self.drawing is not None:
            found += map(SideEffect, self.drawing.effects(result))
        return tuple(found)


_NEITHER = {torch.Tensor, ClaimedTensor, type(None), bool, int, float, str}
_RANDOM = Effect.TORCH_RANDOM, Effect.NUMPY_RANDOM, Effect.PYTHON_RANDOM


class _Argument:
    """The shape, strides and values of a tensor before a call."""

    __slots__ = ("_copy", "_shape", "_strides", "_tensor")

    def __init__(self, x: torch.Tensor) -> None:
        data = _data(x)
        self._tensor, self._shape, self._strides = x, x.shape, x.stride()
        self._copy = None if data is None else data.clone()

    def effect(self) -> Effect | None:
        x = self._tensor
        if x.shape != self._shape or x.stride() != self._strides:
            return Effect.TENSOR_SHAPE
        changed = self._copy is not None and not _same_bits(_data(x), self._copy)
        return Effect.TENSOR if changed else None


def _global_settings() -> tuple[Any, ...]:
    # `torch.get_default_device` is slow, and only an active mode can change the default device
    device = torch.get_default_device() if _len_torch_function_stack() else _CPU
    prints = vars(_TORCH_PRINTS).copy(), np.get_printoptions()
    dtype, gradients = torch.get_default_dtype(), torch.is_grad_enabled()
    return dtype, gradients, device, torch.get_num_threads(), prints, np.geterr()


def _restore_printing(was: tuple[dict[str, Any], dict[str, Any]]) -> None:
    vars(_TORCH_PRINTS).update(was[0])
    np.set_printoptions(**was[1])


_CPU = torch.device("cpu")
_TORCH_PRINTS = torch._tensor_str.PRINT_OPTS  # torch has no public getter
_RESTORE: tuple[tuple[Effect, Callable[[Any], object]], ...] = (
    (Effect.DEFAULT_DTYPE, torch.set_default_dtype),
    (Effect.GRADIENT_MODE, torch.set_grad_enabled),
    (Effect.DEFAULT_DEVICE, torch.set_default_device),
    (Effect.THREADS, torch.set_num_threads),
    (Effect.PRINTING, _restore_printing),
    (Effect.NUMPY_ERRORS, lambda was: np.seterr(**was)),
)


class PyplotState:
    """matplotlib's settings and open figures before a call."""

    def __init__(self, plt: Any) -> None:
        if plt.show is not _show:
            plt.show = plt.matplotlib.backend_bases.FigureManagerBase.show = _show
        self._plt, self._windows = plt, len(_windows)
        self._settings, self._open = _drawing_settings(plt), _open_figures(plt)

    @classmethod
    def now(cls) -> Self | None:
        """Return the current state of pyplot, or None if pyplot has not been imported."""
        plt = sys.modules.get("matplotlib.pyplot")
        return cls(plt) if plt is not None else None

    def effects(self, result: Any) -> Iterator[Effect]:
        """Restore changed settings, and yield a call's effects on settings and on open figures.

        A figure that the call returns, or whose Axes it returns, is not a side effect.
        """
        plt = self._plt
        settings = _drawing_settings(plt)
        if len(_windows) > self._windows or dict.get(plt.rcParams, "interactive"):
            yield Effect.WINDOW
            plt.ioff()
        elif settings != self._settings:
            expected = _without_backend(self._settings)
            if _without_backend(settings) != expected:
                yield Effect.DRAWING_SETTINGS
                dict.update(plt.rcParams, expected)
        own = getattr(result, "figure", result)
        before, now = (
            {id(figure) for figure in figures if figure is not own}
            for figures in (self._open, _open_figures(plt))
        )
        if now != before:
            yield Effect.OTHER_FIGURES


def _open_figures(plt: Any) -> list[Any]:
    """Return pyplot's open figures rather than their numbers, which pyplot reuses."""
    return [manager.canvas.figure for manager in plt._pylab_helpers.Gcf.figs.values()]


_windows: list[bool] = []  # one entry for each call of `show`


def _show(*args: Any, **kwargs: Any) -> None:
    """Record a call of matplotlib's `show`, which this function replaces."""
    _windows.append(True)


def _drawing_settings(plt: Any) -> tuple[list[str], list[Any]]:
    """Return the names and values of matplotlib's settings.

    Copying `rcParams` would call Python code for each of about three hundred settings, which takes
    longer than most calls of a submission.
    """
    return list(dict.keys(plt.rcParams)), list(dict.values(plt.rcParams))


def _without_backend(settings: tuple[list[str], list[Any]]) -> dict[str, Any]:
    """Return settings as a dictionary without the backend, which the first figure may set."""
    return {name: value for name, value in zip(*settings, strict=True) if name != "backend"}


def _settings(module: nn.Module) -> dict[Effect, Any]:
    config = getattr(module, "config", None)
    return {
        Effect.MODE: [m.training for m in module.modules()],
        Effect.ATTENTION: str(getattr(config, "_attn_implementation", None)),
        Effect.OUTPUT_ATTENTIONS: bool(getattr(config, "output_attentions", None)),
    }


def _data(x: torch.Tensor) -> torch.Tensor | None:
    return bare(x).detach() if type(x) in (torch.Tensor, ClaimedTensor) else None


def _same_bits(x: torch.Tensor | None, old: torch.Tensor) -> bool:
    if x is None or (x.shape, x.dtype) != (old.shape, old.dtype):
        return False
    return torch.equal(x, old) or bool(((x == old) | (x != x) & (old != old)).all())  # equal NaN
