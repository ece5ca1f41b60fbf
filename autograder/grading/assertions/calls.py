"""Call a single program without comparing the results, and count the work of its calls."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol, Self

import torch

from ...model.errors import EngineError
from ...worker.protocol import frames
from ..comparator import COARSE, in_dtype
from ..disclosure.allowed_words import AllowedWords
from ..disclosure.failure_messages import error_text
from ..disclosure.leak_budget import MessageBudget
from ..outcomes import Flaw, GraderFault, LimitExceeded, Wrong
from ..running.answer_trie import process_of
from .case import PLAIN, CallOptions, CallResult, Case, Side
from .value_comparison import compare


@dataclass(frozen=True)
class RemoteObject:
    """An object in the process of the submission or of the reference.

    owner: the name of the object's class in the solution, or "" if it is unknown
    """

    case: Case
    side: Side
    handle: frames.HandleV
    owner: str = ""

    @property
    def options(self) -> CallOptions:
        return CallOptions(handle=self.handle.id, owner=self.owner)

    def call(
        self, path: str, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> CallResult:
        return self.side.call(self.case, path, args, kwargs, self.options)

    def fetch(self, path: str) -> CallResult:
        return self.side.call(self.case, path, options=self.options.but(fetch=True))

    def wrapped(self, result: CallResult) -> Any:
        return wrap(self.case, self.side, result.value)


class NamedCalls:
    """Mixin that turns method calls into calls by name: `x.f(1)` is `x.call("f", 1)`."""

    def call(self, path: str, /, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("__"):
            raise AttributeError(name)
        return partial(self.call, name)


class Container:
    """Mixin that forwards container operators to the special methods of a remote object."""

    def _operator(self, method: str, *args: Any) -> Any:
        raise NotImplementedError

    def __len__(self) -> int:
        length = self._operator("__len__")
        if type(length) is not int or not 0 <= length < 1 << 31:
            raise Wrong("`len` of the object should be a non-negative integer.", Flaw.KIND)
        return length

    def __getitem__(self, key: Any) -> Any:
        return self._operator("__getitem__", key)

    def __setitem__(self, key: Any, value: Any) -> None:
        self._operator("__setitem__", key, value)

    def __contains__(self, item: Any) -> bool:
        return self._operator("__contains__", item) is True

    __iter__ = None  # otherwise, Python would iterate with `__getitem__` and might never stop


class HasRemoteObject(Protocol):
    """A Remote or a Pair. Either can be an argument of a call."""

    def object_on(self, side: Side) -> RemoteObject:
        """Return the object as it exists in the process that runs `side`."""


class Remote(Container):
    """An object of the submission or the reference that stays in the process of that program.

    Reading a public name except `object_on` reads an attribute of the object. The result is the
    value of a data attribute, or a callable Remote for a method or submodule.
    """

    def __init__(self, remote: RemoteObject, path: str = "") -> None:
        self._remote, self._path = remote, path

    def object_on(self, side: Side) -> RemoteObject:
        if side is not self._remote.side or self._path:
            raise GraderFault(
                "an object of one program was passed to a different one: create it with `agree`"
            )
        return self._remote

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._remote.wrapped(self._remote.call(self._path, args, kwargs))

    def _operator(self, method: str, *args: Any) -> Any:
        path = ".".join(part for part in (self._path, method) if part)
        return self._remote.wrapped(self._remote.call(path, args))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        path = f"{self._path}.{name}" if self._path else name
        value = self._remote.wrapped(self._remote.fetch(path))
        callable_there = isinstance(value, (frames.OpaqueV, Remote))
        return Remote(self._remote, path) if callable_there else value


def wrap(case: Case, side: Side, value: Any) -> Any:
    """Replace every handle in a result, or in a tuple of results, with a Remote."""
    if isinstance(value, frames.HandleV):
        return Remote(RemoteObject(case, side, value))
    if isinstance(value, tuple):
        return tuple(wrap(case, side, v) for v in value)
    return value


def is_class(path: str) -> bool:
    """Return True for a class such as `SelfAttention`, and False for `FlashAttention.apply`."""
    return path[:1].isupper() and "." not in path


class Calls(NamedCalls):
    """`submission.f(...)` and `reference.f(...)` call one program and return its result.

    Objects are returned as a Remote. `submission.call("Class.method", ...)` takes a dotted path.
    """

    def __init__(self, case: Case, side: Side) -> None:
        self._case, self._side = case, side

    def call(self, path: str, *args: Any, **kwargs: Any) -> Any:
        """Call the function with this name or dotted path, and return the result."""
        options = CallOptions(construct=True, dtype=self._case.dtype) if is_class(path) else PLAIN
        result = self._side.call(self._case, path, args, kwargs, options)
        return wrap(self._case, self._side, result.value)


class Raced:
    """The data races of one kind between the programs of a kernel launch.

    kind:     read_after_write, write_after_read or write_after_write
    elements: the number of elements with a race
    place:    the line of the first race as text for a message, or "" if unknown
    """

    def __init__(self, race: frames.Race, source: tuple[str, ...]) -> None:
        self.kind, self.elements = race.kind, race.elements
        self.place = _place(race.line, source, MessageBudget())


class Launched:
    """The counts of one launch of a Triton kernel. frames.LaunchCounts describes the attributes.

    compiled: whether the kernel was also compiled for a GPU
    """

    def __init__(
        self, source: tuple[str, ...], launch: frames.LaunchCounts, compiled: bool = False
    ) -> None:
        self.programs, self.largest, self.loads = launch.programs, launch.largest, launch.loads
        self.outside_loads, self.outside_stores = launch.outside_loads, launch.outside_stores
        self.races = tuple(Raced(race, source) for race in launch.races)
        self._source, self._launch, self._compiled = source, launch, compiled

    @property
    def refused(self) -> bool:
        """True if Triton cannot compile the kernel for a GPU."""
        if not self._compiled:
            raise EngineError("the kernel was not compiled: use count.compiled.f(...)")
        return self._launch.refused is not None

    @property
    def place(self) -> str:
        """The line of the first access outside all tensors, as text for a message, or ""."""
        return _place(self._launch.line, self._source, MessageBudget())

    @property
    def said(self) -> str:
        """The compiler's error and its line, to append to a message; "." if there is no error."""
        raised = self._launch.refused
        if raised is None:
            return "."
        budget = MessageBudget()
        place = _place(raised.line, self._source, budget)
        text = error_text(raised, self._source, budget=budget)
        return f"{place}{f': {text}' if text else ''}."


def _place(line: int | None, source: tuple[str, ...], budget: MessageBudget) -> str:
    allowed = AllowedWords(source).line(line, budget)
    return f" (line {allowed})" if allowed else ""


@dataclass(frozen=True)
class Counted:
    """The work of one call.

    flops:    floating-point operations
    largest:  elements of the largest tensor
    ops:      number of operations
    kept:     elements that the forward pass saves for the backward pass
    grown:    bytes by which the process grew during the call, or None (see `Count.outside`)
    held:     bytes in use before the call, including the import, or None (see `Count.outside`)
    launches: the launches of Triton kernels
    computed: names of operators that computed outside of Triton kernels
    """

    flops: int
    largest: int
    ops: int
    kept: int
    value: Any
    grown: int | None = None
    held: int | None = None
    launches: tuple[Launched, ...] = ()
    computed: tuple[str, ...] = ()


@dataclass(frozen=True)
class Count(NamedCalls):
    """`count.f(...)` calls the student's function and counts its work in torch and NumPy.

    Except in calls to an object (`of`), the result must approximately equal the reference's.
    Otherwise, a submission could recognise the call by its arguments' sizes and skip the work.
    """

    _case: Case
    _with_gradients: bool = False
    _from_outside: bool = False
    _compiled: bool = False

    @property
    def gradients(self) -> Self:
        """Also count the backward pass; `kept` counts the elements that are saved for it."""
        return replace(self, _with_gradients=True)

    @property
    def outside(self) -> Self:
        """Measure the growth of the process (`grown`) and its memory before the call (`held`).

        `grown` and `held` are None without a sandbox. `held` is also None if the submission imports
        libraries. The other counters include only the memory of torch and NumPy, and a submission
        can evade them. Make a smaller call to the same function first, so that libraries that are
        loaded on first use are not measured.
        """
        return replace(self, _from_outside=True)

    @property
    def compiled(self) -> Self:
        """Also compile each launched kernel for a GPU, to set `refused` and `said` of a launch."""
        return replace(self, _compiled=True)

    def of(self, remote: HasRemoteObject, method: str = "") -> Callable[..., Counted]:
        """Return a function that counts calls to an object, or to its method `method`."""
        handle = remote.object_on(self._case.student).handle.id
        return lambda *a, **k: self._count(method, a, k, CallOptions(handle=handle))

    def call(self, path: str, *args: Any, **kwargs: Any) -> Counted:
        """Count a call to the function with this name or dotted path."""
        return self._count(path, args, kwargs, PLAIN)

    def _count(
        self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any], options: CallOptions
    ) -> Counted:
        case, options = self._case, options.but(count=True, compiled=self._compiled)
        expected = None
        if options.handle is None:  # calls of a remote object are counted but not compared
            expected = case.reference.call(case, name, args, kwargs)
            if self._with_gradients:
                options = options.but(cotangents=case.cotangents(expected.value))
        process = process_of(case.student.target) if self._from_outside else None
        before = process.level_memory() if process else None
        result = case.student.call(case, name, args, kwargs, options)
        counts = result.reply.counts
        if counts is None or counts.ops == 0:
            raise LimitExceeded("This call ran no operation of torch or NumPy.")
        if expected is not None:  # a wrong result may need less work
            where = case.signatures.result(name, f"The result of `{name}`")
            mine = _in_dtype_of(expected.value, result.value)
            compare(mine, expected.value, None, COARSE, where)
        source = case.student.source
        return Counted(
            counts.flops,
            counts.largest,
            counts.ops,
            counts.kept,
            result.value,
            grown=process.peak_bytes() - before.resident if process and before else None,
            held=before.held if before else None,
            launches=tuple(Launched(source, launch, self._compiled) for launch in counts.launches),
            computed=counts.computed,
        )


def _in_dtype_of(expected: Any, mine: Any) -> Any:
    """Convert the tensors of a result to the expected dtypes, so that only values are compared."""
    if isinstance(expected, tuple) and isinstance(mine, tuple) and len(expected) == len(mine):
        return tuple(map(_in_dtype_of, expected, mine))
    tensors = isinstance(expected, torch.Tensor) and isinstance(mine, torch.Tensor)
    return in_dtype(mine, expected.dtype) if tensors else mine
