"""What a call has no business changing: its arguments and the process's global state."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
from numpy._core.printoptions import format_options  # numpy has no public way to see a change
from numpy._core.umath import _extobj_contextvar
from torch import nn
from torch._C import _len_torch_function_stack  # of all modes

from ..protocol.frames import Effect, SideEffect
from ..protocol.values import Memories
from ..torch_support.fake_device import ClaimedTensor
from . import rng_state


class Before:
    """The state that a call has no business changing, as it was.

    memories: of tensors that were decoded, by address, beside the bytes they came in
    """

    def __init__(
        self,
        leaves: list[torch.Tensor],
        args: list[Any],
        kwargs: dict[str, Any],
        memories: Memories | None = None,
    ):
        self.tensors = [_Argument(x, memories) for x in leaves]
        self.arrays: list[tuple[np.ndarray, bytes, tuple[int, ...]]] = []
        self.modules: list[tuple[nn.Module, dict[Effect, Any]]] = []
        for a in (*args, *kwargs.values()) if kwargs else args:
            if type(a) in _NEITHER:
                continue
            if isinstance(a, np.ndarray):
                self.arrays.append((a, a.tobytes(), a.shape))
            elif isinstance(a, nn.Module):
                self.modules.append((a, _settings(a)))
        self.random = rng_state.states()
        self.dtype = torch.get_default_dtype()
        self.settings = _global_settings()
        self.drawing = PyplotState.now()

    def compare(self, result: Any = None) -> tuple[SideEffect, ...]:
        """What changed meanwhile, but for the result; global settings are put back."""
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
        states = rng_state.states()
        if states != self.random:
            pairs = zip(_RANDOM, self.random, states, strict=True)
            found += [SideEffect(effect) for effect, was, is_now in pairs if was != is_now]
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


_NEITHER = {torch.Tensor, ClaimedTensor, type(None), bool, int, float, str}
_RANDOM = Effect.TORCH_RANDOM, Effect.NUMPY_RANDOM, Effect.PYTHON_RANDOM


class _Argument:
    """A tensor as it was: its shape, strides and numbers.

    The bytes that a decoded tensor came in are its copy. While it lies in the same memory, in the
    same way, that memory is compared with them; whatever else there is to compare, numbers are.
    """

    __slots__ = ("_came", "_copy", "_dtype", "_shape", "_strides", "_tensor")

    def __init__(self, x: torch.Tensor, memories: Memories | None) -> None:
        self._tensor, self._shape, self._strides = x, x.shape, x.stride()
        own = x.elem if type(x) is ClaimedTensor else x
        address = own.data_ptr() if memories else 0
        came = memories.get(address) if memories and address else None
        self._came = None if came is None else (address, *came)
        self._copy, self._dtype = (_copy(x) if came is None else None), own.dtype

    def effect(self) -> Effect | None:
        x = self._tensor
        if x.shape != self._shape or x.stride() != self._strides:
            return Effect.TENSOR_SHAPE
        old = self._copy
        if self._came is not None:
            if self._as_it_came(x):
                return None
            flat = torch.frombuffer(bytearray(self._came[2]), dtype=self._dtype)
            old = flat.as_strided(self._shape, self._strides)
        return None if old is None or _same_bits(_data(x), old) else Effect.TENSOR

    def _as_it_came(self, x: torch.Tensor) -> bool:
        assert self._came is not None
        address, memory, sent = self._came
        own = x.elem if type(x) is ClaimedTensor else x
        return (
            type(own) is torch.Tensor
            and own.data_ptr() == address
            and own.dtype is self._dtype
            and not (own.is_neg() or own.is_conj())
            and memory == sent
        )


def _global_settings() -> tuple[Any, ...]:
    """Settings of torch and numpy that hold for a whole process, in the order of `_PUT_BACK`."""
    # without a mode in force there is no device but the CPU; to ask takes longer than all the rest
    device = torch.get_default_device() if _len_torch_function_stack() else _CPU
    prints = vars(_TORCH_PRINTS).copy(), _numpy_prints()
    return device, torch.get_num_threads(), prints, _numpy_errors()


class _Asked:
    """A setting of numpy's that is asked for anew once what it is kept in changed."""

    def __init__(self, kept: Callable[[], Any], ask: Callable[[], Any]) -> None:
        self._kept, self._ask = kept, ask
        self._was: Any = _NEVER
        self._setting: Any = None

    def __call__(self) -> Any:
        kept = self._kept()
        if kept != self._was:  # a capsule, or a dictionary whose copy this is
            self._was = kept.copy() if isinstance(kept, dict) else kept
            self._setting = self._ask()
        return self._setting


_NEVER = object()
_numpy_prints = _Asked(format_options.get, np.get_printoptions)
_numpy_errors = _Asked(_extobj_contextvar.get, np.geterr)


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
