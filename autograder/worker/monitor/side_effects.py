"""Detect changes of a call's arguments and of the process's global state."""

from __future__ import annotations

import ctypes
import random
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
from torch import nn
from torch._C import _len_torch_function_stack  # of all modes

from ..protocol.frames import Effect, SideEffect
from ..torch_support.devices import bare
from ..torch_support.fake_device import ClaimedTensor


def seed_random() -> None:
    """Seed all generators as at the start of a test; skip those that are already in that state."""
    for library, (state, seed) in _SEEDED.items():
        if library not in _seeded or state() != _seeded[library]:
            seed(0)
            _seeded[library] = state()
    if torch.cuda.is_initialized():
        torch.cuda.manual_seed_all(0)


def random_states() -> tuple[object, ...]:
    """Return the states of the generators of torch, NumPy and Python, for comparison."""
    return _torch_state(), _numpy_state(), _python_state()


def _torch_state() -> tuple[bytes, ...]:
    gpus = torch.cuda.get_rng_state_all() if torch.cuda.is_initialized() else ()
    every = torch.default_generator.get_state(), *gpus
    return tuple(x.numpy().tobytes() for x in every)


def _numpy_state() -> tuple[object, ...]:
    """Return the id and state of NumPy's global generator, and its cached normal sample.

    `np.random.get_state` takes 100 µs, longer than most calls of a submission. It is only called
    after the first draw, because a newly seeded generator has no cached sample.
    """
    generator = _numpy_generator()
    if type(generator) is not np.random.MT19937:
        return id(generator), repr(generator.state)
    memory = _memory_of(generator)
    if memory == _SEEDED_MEMORY:
        return id(generator), memory, 0, 0.0
    state = _numpy_full_state(legacy=False)
    return id(generator), memory, state["has_gauss"], state["gauss"]


def _memory_of(generator: Any) -> bytes:
    address = generator.ctypes.state_address
    return bytes((ctypes.c_char * _MT19937_BYTES).from_address(address).raw)


_MT19937_BYTES = 4 * 624 + 4  # NumPy's mt19937_state: the key and the position
# The functions as they are before a submission can replace them.
_numpy_generator = np.random.get_bit_generator  # type: ignore[attr-defined]  # not in its stubs
_SEEDED_MEMORY = _memory_of(np.random.RandomState(0)._bit_generator)
_numpy_full_state: Any = np.random.get_state
_python_state = random.getstate
_SEEDED: dict[str, tuple[Callable[[], object], Callable[[int], object]]] = {
    "torch": (
        lambda: torch.default_generator.get_state().numpy().tobytes(),
        torch.default_generator.manual_seed,
    ),
    "numpy": (_numpy_state, np.random.seed),
    "python": (_python_state, random.seed),
}
_seeded: dict[str, object] = {}  # states directly after seeding


class Before:
    """The state before a call that the call must not change.

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
        """Return the side effects of the call, and restore global settings."""
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
    # the default device can only differ while a mode is active; asking torch for it is slow
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
    def now(cls) -> PyplotState | None:
        """Return the current state of pyplot, or None if it was not imported."""
        plt = sys.modules.get("matplotlib.pyplot")
        return cls(plt) if plt is not None else None

    def effects(self, result: Any) -> Iterator[Effect]:
        """Yield a call's effects on figures that it did not return, and restore settings."""
        plt = self._plt
        settings = _drawing_settings(plt)
        if len(_windows) > self._windows or settings.get("interactive"):
            yield Effect.WINDOW
            plt.ioff()
        elif settings != self._settings:
            yield Effect.DRAWING_SETTINGS
            dict.update(plt.rcParams, self._settings)
        own = getattr(result, "figure", result)
        before, now = (
            {id(figure) for figure in figures if figure is not own}
            for figures in (self._open, _open_figures(plt))
        )
        if now != before:
            yield Effect.OTHER_FIGURES


def _open_figures(plt: Any) -> list[Any]:
    """Return pyplot's open figures; figure numbers are reused, so they cannot identify figures."""
    return [manager.canvas.figure for manager in plt._pylab_helpers.Gcf.figs.values()]


_windows: list[bool] = []  # one entry for each call of `show`


def _show(*args: Any, **kwargs: Any) -> None:
    """Replace matplotlib's `show`, because there is no screen; record that it was called."""
    _windows.append(True)


def _drawing_settings(plt: Any) -> dict[str, Any]:
    """Return a copy of matplotlib's settings without the backend, which the first figure chooses.

    `dict.copy` avoids running Python code for each of the three hundred settings.
    """
    settings: dict[str, Any] = dict.copy(plt.rcParams)
    settings.pop("backend", None)
    return settings


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
    if x is None:
        return False
    if torch.equal(x, old):
        return True
    return (
        x.is_floating_point()
        and torch.equal(torch.isnan(x), torch.isnan(old))
        and torch.equal(torch.nan_to_num(x), torch.nan_to_num(old))
    )
