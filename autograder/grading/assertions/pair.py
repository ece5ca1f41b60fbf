"""The student's object and the reference's, which answer the same calls."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from ..outcomes import GraderFault
from .call_comparison import BothCalls, Comparison, compare_calls
from .calls import Remote, RemoteObject, as_length
from .case import CallOptions, Side
from .value_comparison import compare


@dataclass(frozen=True)
class Recipe:
    """The call that made an object, needed to make it in float64 as well."""

    name: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    options: CallOptions


@dataclass
class _PreciseObject:
    """The object of the reference in float64, made when it is first needed.

    history: mode changes of the other objects (train, eval), to be repeated
    """

    remote: RemoteObject | None = None
    history: list[tuple[str, tuple[Any, ...]]] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True, eq=False)
class Pair(Comparison):
    """The student's object and the reference's, made by the same call. Calls compare."""

    recipe: Recipe
    on_student: RemoteObject
    on_reference: RemoteObject
    on_precise: _PreciseObject = field(default_factory=_PreciseObject)

    @property
    def student(self) -> Remote:
        """The student's object."""
        return Remote(self.on_student)

    @property
    def reference(self) -> Remote:
        """The reference's object."""
        return Remote(self.on_reference)

    def object_on(self, side: Side) -> RemoteObject:
        for remote in (self.on_student, self.on_reference):
            if side is remote.side:
                return remote
        return self._precise()

    def _precise(self) -> RemoteObject:
        shared = self.on_precise
        if shared.remote is None:
            case, recipe = self.case, self.recipe
            options = recipe.options
            if options.dtype is not None:
                options = options.but(dtype="float64")
            made = case.precise.call(case, recipe.name, recipe.args, recipe.kwargs, options)
            shared.remote = RemoteObject(case, case.precise, made.value)
            for path, args in shared.history:
                shared.remote.call(path, args)
        return shared.remote

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.call("", *args, **kwargs)

    def attribute(self, name: str) -> Any:
        """Compare a data attribute of both."""
        expected, actual = self.on_reference.fetch(name), self.on_student.fetch(name)
        where = f"`{self.recipe.name}.{name}`"
        compare(actual.value, expected.value, None, self.tolerance, where)
        return actual.value

    def fields(self, *names: str) -> Pair:
        """Compare these attributes of both, such as the fields of a dataclass."""
        for name in names:
            self.attribute(name)
        return self

    def call(self, name: str, *args: Any, **kwargs: Any) -> Any:
        """Call a method of both by its name, operators too: `pair.call("__add__", other)`."""
        expected = self.on_reference.call(name, args, kwargs)
        precise = None
        if self.case.dtype != "float64":
            with suppress(GraderFault):  # the reference's own dtype then decides
                precise = self._precise().options
        student, reference = self.on_student.options, self.on_reference.options
        parameters = tuple(self.recipe.options.state or ())
        calls = BothCalls(name, args, kwargs, student, reference, precise, parameters)
        return compare_calls(self, calls, expected)

    def __len__(self) -> int:
        return as_length(self.call("__len__"))

    def __getitem__(self, key: Any) -> Any:
        return self.call("__getitem__", key)

    def __setitem__(self, key: Any, value: Any) -> None:
        self.call("__setitem__", key, value)

    def __contains__(self, item: Any) -> bool:
        return bool(self.call("__contains__", item))

    __iter__ = None  # Python would read indices until the reference raises IndexError

    def train(self, mode: bool = True) -> Pair:
        """Put both into training mode."""
        return self._set_mode("train", mode)

    def eval(self) -> Pair:
        """Put both into evaluation mode."""
        return self._set_mode("eval")

    def _set_mode(self, name: str, *args: Any) -> Pair:
        for remote in (self.on_student, self.on_reference, self.on_precise.remote):
            if remote is not None:
                remote.call(name, args)
        self.on_precise.history.append((name, args))
        return self

    def state(self) -> Any:
        """Compare the parameters, after training for example."""
        return replace(self, pure=False).call("state_dict")

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("__"):
            raise AttributeError(name)
        return partial(self.call, name)
