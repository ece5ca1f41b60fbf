"""A student's object beside the reference's: every call goes to both and must agree."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from ...worker.protocol import frames
from ..outcomes import GraderFault
from .call_comparison import BothCalls, Comparison, compare_calls
from .call_options import CallOptions
from .calls import Held, Remote, as_length
from .case import Side
from .value_comparison import compare


@dataclass(frozen=True)
class Recipe:
    """The call that made an object, so that it can be made again."""

    name: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    options: CallOptions


class Pair:
    """The student's object and the reference's, made alike. Calls compare."""

    def __init__(
        self, how: Comparison, recipe: Recipe, student: frames.HandleV, reference: frames.HandleV
    ) -> None:
        self._how, self._recipe = how, recipe
        case = how.case
        owner = case.names.class_of(recipe.name)
        self._on_student = Held(case, case.student, student, owner)
        self._on_reference = Held(case, case.reference, reference)
        self._on_precise: Held | None = None
        self.student, self.reference = Remote(self._on_student), Remote(self._on_reference)
        self._done: list[tuple[str, tuple[Any, ...]]] = []

    def handle_on(self, side: Side) -> frames.HandleV:
        """This object as an argument of a call on one of the sides."""
        for held in (self._on_student, self._on_reference):
            if side is held.side:
                return held.handle
        return self._precise().handle

    def _precise(self) -> Held:
        """The object of the reference in float64, made only where it is asked for."""
        if self._on_precise is None:
            case, made = self._how.case, self._recipe
            options = made.options.widened()
            seen = case.precise.call(case, made.name, made.args, made.kwargs, options)
            self._on_precise = Held(case, case.precise, seen.value)
            for path, args in self._done:  # what the others went through (train, eval, …)
                self._on_precise.seen(path, args)
        return self._on_precise

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.method("", args, kwargs, self._how)

    def gradients(self, *args: Any, **kwargs: Any) -> Any:
        """Call and compare the gradients of inputs and parameters too."""
        return self.method("", args, kwargs, self._how.gradients)

    def within(self, atol: float, rtol: float = 0.0) -> Pair:
        """Allow this difference, and this share of the largest entry."""
        return self._with(self._how.within(atol, rtol))

    @property
    def exactly(self) -> Pair:
        """Allow no rounding."""
        return self._with(self._how.exactly)

    @property
    def impurely(self) -> Pair:
        """Without the check of arguments and global state (training changes them)."""
        return self._with(self._how.impurely)

    def only(self, view: Callable[[Any], Any]) -> Pair:
        """Compare `view(result)` instead of the result."""
        return self._with(self._how.only(view))

    def _with(self, how: Comparison) -> Pair:
        twin = object.__new__(Pair)
        twin.__dict__.update(self.__dict__)
        twin._how = how
        return twin

    def attribute(self, name: str) -> Any:
        """Compare a data attribute of both."""
        expected = self._on_reference.seen(name, fetch=True)
        actual = self._on_student.seen(name, fetch=True)
        where = f"`{self._recipe.name}.{name}`"
        compare(actual.value, expected.value, None, self._how.tolerance, where)
        return actual.value

    def fields(self, *names: str) -> Pair:
        """Compare these fields of both, of a dataclass for example."""
        for name in names:
            self.attribute(name)
        return self

    def call(self, name: str, *args: Any, **kwargs: Any) -> Any:
        """Call any method of both by its name, operators too: `pair.call("__add__", other)`."""
        return self.method(name, args, kwargs, self._how)

    def __len__(self) -> int:
        return as_length(self.call("__len__"))

    def __getitem__(self, key: Any) -> Any:
        return self.call("__getitem__", key)

    def __setitem__(self, key: Any, value: Any) -> None:
        self.call("__setitem__", key, value)

    def __contains__(self, item: Any) -> bool:
        return bool(self.call("__contains__", item))

    __iter__ = None  # it would ask by index, and meet the reference's IndexError

    def train(self, mode: bool = True) -> Pair:
        """Put both into training mode."""
        return self._both("train", mode)

    def eval(self) -> Pair:
        """Put both into evaluation mode."""
        return self._both("eval")

    def _both(self, name: str, *args: Any) -> Pair:
        for held in (self._on_student, self._on_reference, self._on_precise):
            if held is not None:
                held.seen(name, args)
        self._done.append((name, args))
        return self

    def state(self) -> Any:
        """Compare the parameters, after training for example."""
        return self.method("state_dict", (), {}, replace(self._how, pure=False))

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *args, **kwargs: self.method(name, args, kwargs, self._how)

    def method(
        self, path: str, args: tuple[Any, ...], kwargs: dict[str, Any], how: Comparison
    ) -> Any:
        """Call a method of both ("" calls the objects) and compare as `how` says."""
        expected = self._on_reference.seen(path, args, kwargs)
        precise = None
        if how.case.dtype != "float64":
            try:
                precise = self._precise().options
            except GraderFault:
                precise = None
        student, reference = self._on_student.options, self._on_reference.options
        parameters = tuple(self._recipe.options.state or ())
        calls = BothCalls(path, args, kwargs, student, reference, precise, parameters)
        return compare_calls(how, calls, expected)
