"""Calls of one side: plain functions, objects that stay where their code runs, counted work."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from ..worker import wire
from .case import Case, Side
from .outcomes import GraderFault, LimitExceeded
from .remembered import process_of


class Remote:
    """An object of the student's (or the reference's) that lives where its code runs."""

    def __init__(self, case: Case, side: Side, handle: wire.HandleV) -> None:
        self._case, self._side, self._handle = case, side, handle

    def handle_on(self, side: Side) -> wire.Value:
        if side is not self._side:
            raise GraderFault("an object of one side was passed to the other; pass a Pair")
        return self._handle

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._invoke("", args, kwargs)

    def __getattr__(self, name: str) -> Any:
        """A data attribute's value; a method or a submodule can be called and looked into."""
        if name.startswith("__"):
            raise AttributeError(name)
        value = self._invoke(name, (), {}, fetch=True)
        return _Attribute(self, name) if isinstance(value, (wire.OpaqueV, Remote)) else value

    def _invoke(self, path: str, args: Any, kwargs: Any, **options: Any) -> Any:
        seen = self._side.call(self._case, path, args, kwargs, handle=self._handle.id, **options)
        return wrap(self._case, self._side, seen.value)


class _Attribute:
    """`object.name` where that is a method or a submodule."""

    def __init__(self, remote: Remote, path: str) -> None:
        self._remote, self._path = remote, path

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._remote._invoke(self._path, args, kwargs)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._remote, f"{self._path}.{name}")


def wrap(case: Case, side: Side, value: Any) -> Any:
    if isinstance(value, wire.HandleV):
        return Remote(case, side, value)
    if isinstance(value, tuple):
        return tuple(wrap(case, side, v) for v in value)
    return value


def is_class(path: str) -> bool:
    """Whether a path names a class: `SelfAttention`, but not `FlashAttention.apply`."""
    return path[:1].isupper() and "." not in path


class Calls:
    """`submission.f(...)` and `reference.f(...)`: plain values come back.

    `submission.call("Class.method", ...)` takes a dotted path in place of the name.
    """

    def __init__(self, case: Case, side: Side) -> None:
        self._case, self._side = case, side

    def call(self, path: str, *args: Any, **kwargs: Any) -> Any:
        options: dict[str, Any] = {"construct": is_class(path)}
        if is_class(path):
            options["dtype"] = self._case.dtype
        seen = self._side.call(self._case, path, args, kwargs, **options)
        return wrap(self._case, self._side, seen.value)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("__"):
            raise AttributeError(name)
        return partial(self.call, name)


@dataclass(frozen=True)
class Counted:
    """Work of one call: floating-point operations, the largest tensor's elements, operations."""

    flops: int
    largest: int
    ops: int
    kept: int
    value: Any
    grown: int | None = None  # bytes by which the process grew, measured from outside


class Count:
    """`count.f(...)`: run the student's function and count its work, torch's and NumPy's."""

    def __init__(
        self, case: Case, with_gradients: bool = False, from_outside: bool = False
    ) -> None:
        self._case, self._with_gradients, self._from_outside = case, with_gradients, from_outside

    @property
    def gradients(self) -> Count:
        """Count the backward pass too; `kept` tells what the forward kept for it."""
        return Count(self._case, True, self._from_outside)

    @property
    def outside(self) -> Count:
        """Measure from outside too how far memory rises: `grown`, None in this process.

        A check on the counters, which see what torch and NumPy make, and can be deceived. Make a
        smaller call of the same function before: what is loaded for any call is not the point.
        """
        return Count(self._case, self._with_gradients, True)

    def of(self, remote: Remote, method: str = "") -> Callable[..., Counted]:
        """The call of an object, or of one of its methods."""
        return lambda *a, **k: self._count(method, a, k, {"handle": remote._handle.id})

    def call(self, path: str, *args: Any, **kwargs: Any) -> Counted:
        return self._count(path, args, kwargs, {})

    def __getattr__(self, name: str) -> Callable[..., Counted]:
        if name.startswith("__"):
            raise AttributeError(name)
        return partial(self.call, name)

    def _count(self, name: str, args: Any, kwargs: Any, options: dict[str, Any]) -> Counted:
        case = self._case
        if self._with_gradients:
            expected = case.reference.call(case, name, args, kwargs)
            options = options | {"cotangents": case.cotangents(expected.value)}
        process = process_of(case.student.target) if self._from_outside else None
        before = process.level_memory() if process is not None else 0
        seen = case.student.call(case, name, args, kwargs, count=True, **options)
        counts = seen.reply.counts
        if counts is None or counts.ops == 0:
            raise LimitExceeded("No operation of torch or NumPy was seen in this call.")
        counted = Counted(counts.flops, counts.largest, counts.ops, counts.kept, seen.value)
        if process is not None:
            return replace(counted, grown=process.peak_bytes() - before)
        return counted
