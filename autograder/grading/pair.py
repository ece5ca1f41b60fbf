"""A student's object beside the reference's: every call goes to both and must agree."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..worker import wire
from .case import Seen, Side
from .compare import compare
from .outcomes import GraderFault
from .remote import Remote

if TYPE_CHECKING:
    from .agree import Agree


class Pair:
    """The student's object and the reference's, made alike. Calls compare."""

    def __init__(
        self,
        agree: Agree,
        name: str,
        args: Any,
        kwargs: Any,
        options: dict[str, Any],
        state: Any,
        student: Seen,
        reference: Seen,
    ) -> None:
        self._agree, self._name = agree, name
        case = agree.case
        self.student = Remote(case, case.student, student.value)
        self.reference = Remote(case, case.reference, reference.value)
        self._recipe = (args, kwargs, options, state)
        self._precise: wire.HandleV | None = None
        self._done: list[tuple[str, Any, Any]] = []

    def handle_on(self, side: Side) -> wire.Value:
        """This object as an argument of a call on one of the sides."""
        case = self._agree.case
        if side is case.student:
            return self.student._handle
        if side is case.reference:
            return self.reference._handle
        return self._precise_handle()

    def _precise_handle(self) -> wire.HandleV:
        case = self._agree.case
        if self._precise is None:
            args, kwargs, options, state = self._recipe
            wide = options | ({"dtype": "float64"} if "dtype" in options else {})
            seen = case.precise.call(case, self._name, args, kwargs, state=state, **wide)
            self._precise = seen.value
            for path, a, k in self._done:  # what the others went through (train, eval, …)
                case.precise.call(case, path, a, k, handle=self._precise.id)
        return self._precise

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.method("", args, kwargs, self._agree)

    def gradients(self, *args: Any, **kwargs: Any) -> Any:
        """Call and compare the gradients of inputs and parameters too."""
        return self.method("", args, kwargs, self._agree.gradients)

    def within(self, atol: float, rtol: float = 0.0) -> Pair:
        return self._with(self._agree.within(atol, rtol))

    @property
    def exactly(self) -> Pair:
        return self._with(self._agree.exactly)

    @property
    def impurely(self) -> Pair:
        return self._with(self._agree.impurely)

    def only(self, view: Callable[[Any], Any]) -> Pair:
        return self._with(self._agree.only(view))

    def _with(self, agree: Agree) -> Pair:
        twin = object.__new__(Pair)
        twin.__dict__.update(self.__dict__)
        twin._agree = agree
        return twin

    def attribute(self, name: str) -> Any:
        """Compare a data attribute of both."""
        expected = self.reference._side.call(
            self._agree.case, name, handle=self.reference._handle.id, fetch=True
        )
        actual = self.student._side.call(
            self._agree.case, name, handle=self.student._handle.id, fetch=True
        )
        where = f"`{self._name}.{name}`"
        compare(actual.value, expected.value, None, self._agree._tolerance, where)
        return actual.value

    def train(self, mode: bool = True) -> Pair:
        return self._both("train", mode)

    def eval(self) -> Pair:
        return self._both("eval")

    def _both(self, name: str, *args: Any) -> Pair:
        for remote in (self.student, self.reference):
            remote._side.call(self._agree.case, name, args, handle=remote._handle.id)
        if self._precise is not None:
            case = self._agree.case
            case.precise.call(case, name, args, handle=self._precise.id)
        self._done.append((name, args, {}))
        return self

    def state(self) -> Any:
        """Compare the parameters, after training for example."""
        return self.method("state_dict", (), {}, replace(self._agree, pure=False))

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *args, **kwargs: self.method(name, args, kwargs, self._agree)

    def method(self, path: str, args: Any, kwargs: Any, agree: Agree) -> Any:
        case = agree.case
        on_reference = {"handle": self.reference._handle.id}
        on_student = {"handle": self.student._handle.id}
        expected = case.reference.call(case, path, args, kwargs, **on_reference)
        on_precise = None
        if case.dtype != "float64":
            try:
                on_precise = {"handle": self._precise_handle().id}
            except GraderFault:
                on_precise = None
        return agree._compared(expected, path, args, kwargs, on_student, on_reference, on_precise)
