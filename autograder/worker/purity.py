"""What a call has no business changing: its arguments and the process's global state."""

from __future__ import annotations

import ctypes
import random
import sys
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

import numpy as np
import torch
from torch import nn
from torch._C import _len_torch_function_stack  # of all modes

from .claimed import ClaimedTensor
from .devices import random_states
from .wire import Effect, SideEffect


class Before:
    """The state that a call has no business changing, as it was."""

    def __init__(self, leaves: list[torch.Tensor], args: list[Any], kwargs: dict[str, Any]):
        self.tensors = [(x, _copy(x), x.shape, x.stride()) for x in leaves]
        arrays = [a for a in [*args, *kwargs.values()] if isinstance(a, np.ndarray)]
        self.arrays = [(a, a.tobytes(), a.shape) for a in arrays]
        modules = [a for a in [*args, *kwargs.values()] if isinstance(a, nn.Module)]
        self.modules = [(m, _settings(m)) for m in modules]
        self.torch_rng = _torch_state()
        self.gpu_rng = random_states()
        self.numpy_rng = _numpy_state()
        self.python_rng = _python_state()
        self.dtype = torch.get_default_dtype()
        self.settings = _global_settings()
        self.drawing = PyplotState.now()

    def compare(self, result: Any = None) -> tuple[SideEffect, ...]:
        """What changed meanwhile, but for the result; global settings are put back."""
        found = []
        for number, (x, old, shape, stride) in enumerate(self.tensors):
            if x.shape != shape or x.stride() != stride:
                found.append(SideEffect(Effect.TENSOR_SHAPE, number + 1))
            elif old is not None and not _same_bits(_data(x), old):
                found.append(SideEffect(Effect.TENSOR, number + 1))
        for number, (a, old_bytes, old_shape) in enumerate(self.arrays):
            if a.shape != old_shape or a.tobytes() != old_bytes:
                found.append(SideEffect(Effect.ARRAY, number + 1))
        for module, settings in self.modules:
            now = _settings(module)
            found += [SideEffect(name) for name in settings if settings[name] != now[name]]
        same = self.torch_rng == _torch_state()
        if not (same and all(map(torch.equal, self.gpu_rng, random_states()))):
            found.append(SideEffect(Effect.TORCH_RANDOM))
        if self.numpy_rng != _numpy_state():
            found.append(SideEffect(Effect.NUMPY_RANDOM))
        if self.python_rng != _python_state():
            found.append(SideEffect(Effect.PYTHON_RANDOM))
        if self.dtype != torch.get_default_dtype():
            found.append(SideEffect(Effect.DEFAULT_DTYPE))
            torch.set_default_dtype(self.dtype)
        if not torch.is_grad_enabled():
            found.append(SideEffect(Effect.GRADIENT_MODE))
            torch.set_grad_enabled(True)
        found += self._settings_changed()
        if self.drawing is not None:
            found += map(SideEffect, self.drawing.effects(result))
        return tuple(found)

    def _settings_changed(self) -> list[SideEffect]:
        now = _global_settings()
        if now == self.settings:
            return []
        found = []
        for (setting, put_back), was, is_now in zip(_PUT_BACK, self.settings, now, strict=True):
            if was != is_now:
                found.append(SideEffect(setting))
                put_back(was)
        return found


def _global_settings() -> tuple[Any, ...]:
    """Settings of torch and numpy that hold for a whole process, in the order of `_PUT_BACK`."""
    # without a mode in force there is no device but the CPU; to ask takes longer than all the rest
    device = torch.get_default_device() if _len_torch_function_stack() else _CPU
    prints = vars(_TORCH_PRINTS).copy(), np.get_printoptions()
    return device, torch.get_num_threads(), prints, np.geterr()


def _print_again(was: tuple[dict[str, Any], dict[str, Any]]) -> None:
    vars(_TORCH_PRINTS).update(was[0])
    np.set_printoptions(**was[1])


_CPU = torch.device("cpu")
_TORCH_PRINTS = torch._tensor_str.PRINT_OPTS  # torch has no public way to ask
_PUT_BACK: tuple[tuple[Effect, Callable[[Any], object]], ...] = (
    (Effect.DEFAULT_DEVICE, torch.set_default_device),
    (Effect.THREADS, torch.set_num_threads),
    (Effect.PRINTING, _print_again),
    (Effect.NUMPY_ERRORS, lambda was: np.seterr(**was)),
)


class PyplotState:
    """matplotlib as it was: its settings, and the figures that were open."""

    def __init__(self, plt: Any) -> None:
        _notice_windows(plt)
        self._plt, self._windows = plt, len(_windows)
        self._settings, self._open = _settings_of(plt.rcParams), _open_figures(plt)

    @classmethod
    def now(cls) -> PyplotState | None:
        """The state of pyplot, if it was imported."""
        plt = sys.modules.get("matplotlib.pyplot")
        return cls(plt) if plt is not None else None

    def effects(self, result: Any) -> tuple[Effect, ...]:
        """What a call did beside the drawing that it returned; settings are put back."""
        settings = self._plt.rcParams
        if (
            len(_windows) == self._windows
            and not (self._open or _open_figures(self._plt))
            and self._settings.hold_in(settings)
            and not dict.get(settings, "interactive")
        ):
            return ()
        return tuple(self._found(result, settings))

    def _found(self, result: Any, settings: dict[str, Any]) -> Iterator[Effect]:
        plt = self._plt
        if len(_windows) > self._windows or dict.get(settings, "interactive"):
            yield Effect.WINDOW
            plt.ioff()
        elif self._settings.differ_from(settings):
            yield Effect.DRAWING_SETTINGS
            self._settings.put_back(settings)
        own = getattr(result, "figure", result)
        before, now = (
            {id(figure) for figure in figures if figure is not own}
            for figures in (self._open, _open_figures(plt))
        )
        if now != before:
            yield Effect.OTHER_FIGURES


def _open_figures(plt: Any) -> list[Any]:
    """The figures that pyplot knows; a number is given anew once its figure is closed."""
    return [manager.canvas.figure for manager in plt._pylab_helpers.Gcf.figs.values()]


_windows: list[bool] = []  # one for each time that a figure was to be shown


def _notice_windows(plt: Any) -> None:
    """Nothing is shown where no screen is; that it was asked for is noted."""
    if not isinstance(plt.show, _Noted):
        plt.show = plt.matplotlib.backend_bases.FigureManagerBase.show = _Noted()


class _Noted:
    """Stands in for what opens windows."""

    def __call__(self, *args: Any, **kwargs: Any) -> None:
        _windows.append(True)


class _DrawingSettings:
    """matplotlib's settings, but for the backend, which it chooses itself at the first figure.

    Names and values are two lists that the interpreter copies and compares by itself: a copy of
    matplotlib's own dictionary asks Python code for each of three hundred settings, which takes
    longer than most calls of a submission.
    """

    def __init__(self, settings: dict[str, Any]) -> None:
        self._names, self._values = list(dict.keys(settings)), list(dict.values(settings))

    def hold_in(self, settings: dict[str, Any]) -> bool:
        """Return whether these are the very settings; matplotlib takes no new names."""
        return list(dict.values(settings)) == self._values

    def differ_from(self, settings: dict[str, Any]) -> bool:
        if self.hold_in(settings):
            return False
        return _DrawingSettings(settings)._but_for_the_backend() != self._but_for_the_backend()

    def put_back(self, settings: dict[str, Any]) -> None:
        dict.update(settings, self._but_for_the_backend())

    def _but_for_the_backend(self) -> dict[str, Any]:
        settings = dict(zip(self._names, self._values, strict=True))
        settings.pop("backend", None)
        return settings


_last_settings: list[_DrawingSettings] = []  # at most one: calls seldom change any


def _settings_of(settings: dict[str, Any]) -> _DrawingSettings:
    if not _last_settings or not _last_settings[0].hold_in(settings):
        _last_settings[:] = [_DrawingSettings(settings)]
    return _last_settings[0]


def _settings(module: nn.Module) -> dict[Effect, Any]:
    """How a module runs, and what a Hugging Face model's config says about its attention."""
    config = getattr(module, "config", None)
    return {
        Effect.MODE: [m.training for m in module.modules()],
        Effect.ATTENTION: str(getattr(config, "_attn_implementation", None)),
        Effect.OUTPUT_ATTENTIONS: bool(getattr(config, "output_attentions", None)),
    }


def _copy(x: torch.Tensor) -> torch.Tensor | None:
    """A copy to compare with."""
    data = _data(x)
    return None if data is None else data.clone()


def _data(x: torch.Tensor) -> torch.Tensor | None:
    """A tensor's numbers, where they lie; None for a kind of which nothing is known."""
    if type(x) is ClaimedTensor:
        return x.elem.detach()
    return x.detach() if type(x) is torch.Tensor else None


def _torch_state() -> bytes:
    """The state of the CPU's generator; `torch.equal` takes three times as long to compare it."""
    return torch.get_rng_state().numpy().tobytes()


# numpy's mt19937_state: key[624] and pos. Reading it where it lies takes a hundredth of the time
# of `get_state`, which makes a dictionary of arrays, and this is done before and after every call.
_MT19937_BYTES = 4 * 624 + 4


def _numpy_state() -> tuple[int, object]:
    """The global generator and its state."""
    generator: Any = np.random.get_bit_generator()  # type: ignore[attr-defined]  # not in its stubs
    if type(generator) is not np.random.MT19937:
        return id(generator), repr(generator.state)
    return id(generator), _memory_of(generator).raw


@lru_cache(maxsize=1)  # which holds the generator, so that its address stays its own
def _memory_of(generator: Any) -> ctypes.Array[ctypes.c_char]:
    return _memory(int(generator.ctypes.state_address), _MT19937_BYTES)


def _memory(address: int, size: int) -> ctypes.Array[ctypes.c_char]:
    """Bytes as they lie somewhere; `raw` copies them without a word to audit hooks."""
    return (ctypes.c_char * size).from_address(address)


# CPython's RandomObject: after the object's head, 624 words and the position. `getstate` makes a
# tuple of as many numbers, which takes longer than most calls of a submission.
_HEAD = object.__basicsize__
_PYTHON_BYTES = random.Random.__base__.__basicsize__ - _HEAD  # type: ignore[union-attr]  # C's Random
_GENERATOR: Any = random.getstate.__self__  # type: ignore[attr-defined]  # a bound method
_PYTHON_MEMORY = _memory(id(_GENERATOR) + _HEAD, _PYTHON_BYTES)


def _python_state() -> object:
    """The state of the generator behind `random.random`."""
    return _PYTHON_MEMORY.raw, _GENERATOR.gauss_next


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
