"""Calls of one side: plain functions, objects that stay where their code runs, counted work."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol

from ...model.errors import EngineError
from ...worker.protocol import frames
from ..disclosure.allowed_words import Echo
from ..disclosure.failure_messages import shown_text
from ..disclosure.leak_budget import Ration
from ..outcomes import Flaw, GraderFault, LimitExceeded, Wrong
from ..running.answer_trie import process_of
from .call_options import PLAIN, CallOptions
from .case import Case, Seen, Side


@dataclass(frozen=True)
class Held:
    """An object that stays where one side's code runs, and how it is called there."""

    case: Case
    side: Side
    handle: frames.HandleV
    owner: str = ""  # the name of its class in the stub

    @property
    def options(self) -> CallOptions:
        return CallOptions(handle=self.handle.id, owner=self.owner)

    def seen(
        self,
        path: str,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
        *,
        fetch: bool = False,
    ) -> Seen:
        """Call one of its methods, or read one of its attributes."""
        options = CallOptions(handle=self.handle.id, fetch=fetch, owner=self.owner)
        return self.side.call(self.case, path, args, kwargs, options)

    def answer(self, path: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return wrap(self.case, self.side, self.seen(path, args, kwargs).value)

    def attribute(self, path: str) -> Any:
        """A data attribute's value; a method or a submodule can be called and looked into."""
        value = wrap(self.case, self.side, self.seen(path, fetch=True).value)
        return _Attribute(self, path) if isinstance(value, (frames.OpaqueV, Remote)) else value


class Remote:
    """An object of the student's (or the reference's) that lives where its code runs.

    Every name but `handle_on` is an attribute of that object.
    """

    def __init__(self, held: Held) -> None:
        self._held = held

    def handle_on(self, side: Side) -> frames.HandleV:
        """This object as an argument of a call on its side."""
        if side is not self._held.side:
            raise GraderFault("an object of one side was passed to the other; pass a Pair")
        return self._held.handle

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._held.answer("", args, kwargs)

    def __len__(self) -> int:
        return as_length(self._held.answer("__len__", (), {}))

    def __getitem__(self, key: Any) -> Any:
        return self._held.answer("__getitem__", (key,), {})

    def __setitem__(self, key: Any, value: Any) -> None:
        self._held.answer("__setitem__", (key, value), {})

    def __contains__(self, item: Any) -> bool:
        return self._held.answer("__contains__", (item,), {}) is True

    __iter__ = None  # it would ask by index, without an end

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self._held.attribute(name)


def as_length(value: Any) -> int:
    """What `len` gave, where that is a length."""
    if type(value) is not int or not 0 <= value < 1 << 31:
        raise Wrong("`len` of the object should be a whole number from 0 on.", Flaw.KIND)
    return value


class _Attribute:
    """`object.name` where that is a method or a submodule."""

    def __init__(self, held: Held, path: str) -> None:
        self._held, self._path = held, path

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._held.answer(self._path, args, kwargs)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self._held.attribute(f"{self._path}.{name}")


class HasHandle(Protocol):
    """What can be passed to a call as the object that it stands for: a Pair, or one side's."""

    def handle_on(self, side: Side) -> frames.HandleV: ...


def owner_of(thing: HasHandle) -> str:
    """The name of an object's class, if the stub knows it."""
    one = vars(thing).get("student", thing)
    return one._held.owner if isinstance(one, Remote) else ""


def wrap(case: Case, side: Side, value: Any) -> Any:
    if isinstance(value, frames.HandleV):
        return Remote(Held(case, side, value))
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
        """The call by name or dotted path."""
        options = CallOptions(construct=True, dtype=self._case.dtype) if is_class(path) else PLAIN
        seen = self._side.call(self._case, path, args, kwargs, options)
        return wrap(self._case, self._side, seen.value)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("__"):
            raise AttributeError(name)
        return partial(self.call, name)


class Raced:
    """A kind of race between a launch's programs.

    kind: read_after_write, write_after_read or write_after_write
    elements: how many elements the programs race for
    place: the line of the first race, as words for a message
    """

    def __init__(self, race: frames.Race, source: tuple[str, ...]) -> None:
        self.kind, self.elements = race.kind, race.elements
        self.place = _place(race.line, source, Ration())


class Launched:
    """What one launch of a Triton kernel did (wire.LaunchCounts says more of each).

    asked: whether a GPU's compiler was asked about the kernel
    """

    def __init__(
        self, source: tuple[str, ...], launch: frames.LaunchCounts, asked: bool = False
    ) -> None:
        self.programs, self.largest, self.loads = launch.programs, launch.largest, launch.loads
        self.outside_loads, self.outside_stores = launch.outside_loads, launch.outside_stores
        self.races = tuple(Raced(race, source) for race in launch.races)
        self._source, self._launch, self._asked = source, launch, asked

    @property
    def refused(self) -> bool:
        """Whether a GPU's compiler has something against the kernel."""
        if not self._asked:
            raise EngineError("nobody asked the compiler: count.compiled.f(...) does")
        return self._launch.refused is not None

    @property
    def place(self) -> str:
        """Where the first access outside of every tensor is made, as words for a message."""
        return _place(self._launch.line, self._source, Ration())

    @property
    def said(self) -> str:
        """Where and why the compiler refuses the kernel, as the end of a message."""
        raised = self._launch.refused
        if raised is None:
            return "."
        ration = Ration()
        place = _place(raised.line, self._source, ration)
        text = shown_text(raised, self._source, ration=ration)
        return f"{place}{f': {text}' if text else ''}."


def _place(line: int | None, source: tuple[str, ...], ration: Ration) -> str:
    shown = Echo(source).place(line, ration)
    return f" (line {shown})" if shown else ""


@dataclass(frozen=True)
class Counted:
    """Work of one call: floating-point operations, the largest tensor's elements, operations."""

    flops: int
    largest: int
    ops: int
    kept: int
    value: Any
    grown: int | None = None  # bytes by which the process grew, measured from outside
    held: int | None = None  # bytes that the submission held before, its import included
    launches: tuple[Launched, ...] = ()  # of Triton kernels
    computed: tuple[str, ...] = ()  # what computed beside them


class Count:
    """`count.f(...)`: run the student's function and count its work, torch's and NumPy's."""

    def __init__(
        self,
        case: Case,
        with_gradients: bool = False,
        from_outside: bool = False,
        compiled: bool = False,
    ) -> None:
        self._case, self._compiled = case, compiled
        self._with_gradients, self._from_outside = with_gradients, from_outside

    @property
    def gradients(self) -> Count:
        """Count the backward pass too; `kept` tells what the forward kept for it."""
        return Count(self._case, True, self._from_outside, self._compiled)

    @property
    def outside(self) -> Count:
        """Measure from outside too how far memory rises (`grown`), and what was `held` before.

        None in this process; `held` also where a submission brings libraries of its own.

        A check on the counters, which see what torch and NumPy make, and can be deceived. Make a
        smaller call of the same function before: what is loaded for any call is not the point.
        """
        return Count(self._case, self._with_gradients, True, self._compiled)

    @property
    def compiled(self) -> Count:
        """Ask Triton's compiler about each kernel that is launched: `refused`, `said`."""
        return Count(self._case, self._with_gradients, self._from_outside, True)

    def of(self, remote: HasHandle, method: str = "") -> Callable[..., Counted]:
        """The call of an object, or of one of its methods."""
        handle = remote.handle_on(self._case.student).id
        return lambda *a, **k: self._count(method, a, k, handle)

    def call(self, path: str, *args: Any, **kwargs: Any) -> Counted:
        """The counted call by name or dotted path."""
        return self._count(path, args, kwargs, None)

    def __getattr__(self, name: str) -> Callable[..., Counted]:
        if name.startswith("__"):
            raise AttributeError(name)
        return partial(self.call, name)

    def _count(
        self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any], handle: int | None
    ) -> Counted:
        case = self._case
        options = CallOptions(handle=handle, count=True, compiled=self._compiled)
        if self._with_gradients:
            expected = case.reference.call(case, name, args, kwargs)
            options = options.pulling(case.cotangents(expected.value))
        process = process_of(case.student.target) if self._from_outside else None
        before = process.level_memory() if process is not None else None
        seen = case.student.call(case, name, args, kwargs, options)
        counts = seen.reply.counts
        if counts is None or counts.ops == 0:
            raise LimitExceeded("No operation of torch or NumPy was seen in this call.")
        counted = Counted(
            counts.flops,
            counts.largest,
            counts.ops,
            counts.kept,
            seen.value,
            launches=tuple(
                Launched(case.student.source, launch, self._compiled) for launch in counts.launches
            ),
            computed=counts.computed,
        )
        if process is not None and before is not None:
            grown = process.peak_bytes() - before.resident
            return replace(counted, grown=grown, held=before.held)
        return counted
