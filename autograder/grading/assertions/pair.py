"""The student's object and the reference's, which answer the same calls."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from ..outcomes import GraderFault
from .call_comparison import BothCalls, Comparison, compare_calls
from .calls import Container, NamedCalls, Remote, RemoteObject
from .case import Side
from .value_comparison import compare


@dataclass(frozen=True, kw_only=True, eq=False)
class Pair(Comparison, NamedCalls, Container):
    """The student's and the reference's object from the same call; method calls compare both.

    made_by:    the path of the call that created the objects
    parameters: the names of the objects' parameters
    on_precise: the reference's object in float64, or None if it cannot be created
    """

    made_by: str
    parameters: tuple[str, ...]
    on_student: RemoteObject
    on_reference: RemoteObject
    on_precise: RemoteObject | None

    @property
    def student(self) -> Remote:
        """The student's object."""
        return Remote(self.on_student)

    @property
    def reference(self) -> Remote:
        """The reference's object."""
        return Remote(self.on_reference)

    def object_on(self, side: Side) -> RemoteObject:
        for remote in self._objects():
            if side is remote.side:
                return remote
        raise GraderFault(f"{self.made_by} cannot be made in float64")

    def _objects(self) -> list[RemoteObject]:
        everywhere = (self.on_student, self.on_reference, self.on_precise)
        return [remote for remote in everywhere if remote is not None]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.call("", *args, **kwargs)

    def attribute(self, name: str) -> Any:
        """Compare a data attribute of the two objects."""
        expected, actual = self.on_reference.fetch(name), self.on_student.fetch(name)
        where = f"`{self.made_by}.{name}`"
        compare(actual.value, expected.value, None, self.tolerance, where)
        return actual.value

    def fields(self, *names: str) -> Pair:
        """Compare these attributes of the two objects, such as the fields of a dataclass."""
        for name in names:
            self.attribute(name)
        return self

    def call(self, name: str, *args: Any, **kwargs: Any) -> Any:
        """Call a method or operator of both objects by name: `pair.call("__add__", other)`."""
        expected = self.on_reference.call(name, args, kwargs)
        student, reference = self.on_student.options, self.on_reference.options
        precise = self.on_precise.options if self.on_precise is not None else None
        calls = BothCalls(name, args, kwargs, student, reference, precise, self.parameters)
        return compare_calls(self, calls, expected)

    def _operator(self, method: str, *args: Any) -> Any:
        return self.call(method, *args)

    def train(self, mode: bool = True) -> Pair:
        """Switch both modules to training mode."""
        return self._set_mode("train", mode)

    def eval(self) -> Pair:
        """Switch both modules to evaluation mode."""
        return self._set_mode("eval")

    def _set_mode(self, name: str, *args: Any) -> Pair:
        for remote in self._objects():
            remote.call(name, args)
        return self

    def state(self) -> Any:
        """Compare the parameters, for example after training."""
        return replace(self, pure=False).call("state_dict")
