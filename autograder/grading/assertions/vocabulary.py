"""Fixtures for hidden tests that compare results (`agree`) or require exceptions (`refuses`).

`agree.softmax(x, dim=1)` calls the student's function and the reference with the same inputs. The
call compares type, shape, dtype, device, finiteness and values, and requires that arguments and
global state are unchanged. `agree.Module(...)` creates an object in each program and returns a
`Pair`, whose methods are compared in the same way. `refuses(ValueError, mentions=7).f(x)` requires
a ValueError with 7 in its message. `case.Side` encodes each call and sends it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import torch

from ...worker.protocol import frames
from ...worker.protocol.values import TORCH_DTYPES
from ..disclosure.allowed_words import AllowedWords
from ..disclosure.leak_budget import UNKNOWN, MessageBudget
from ..outcomes import Flaw, GraderFault, Outcome, Unwritten, Wrong
from .call_comparison import IN_A_ROW, BothCalls, Comparison, check_side_effects, compare_calls
from .calls import Container, HasRemoteObject, NamedCalls, Remote, RemoteObject, is_class
from .case import PLAIN, CallOptions, Case, Side
from .value_comparison import compare


@dataclass(frozen=True)
class Agree(Comparison, NamedCalls):
    """`agree.f(...)` compares the results of both programs, and returns the student's result."""

    state_std: float = 0.3
    brought: str = ""
    order: int | None = None
    kernels_only: bool = False
    prints: bool = False

    def weights(self, std: float) -> Agree:
        """Draw the parameters of modules with this standard deviation (default 0.3)."""
        return replace(self, state_std=std)

    def shuffled(self, seed: int) -> Agree:
        """Run the programs of the student's Triton kernels in a random order, drawn from `seed`."""
        return replace(self, order=seed)

    @property
    def in_kernels(self) -> Agree:
        """Require that results are computed in Triton kernels.

        Outside of kernels, torch may only create, copy, convert, view and rearrange tensors.
        """
        return replace(self, kernels_only=True)

    @property
    def printing(self) -> Agree:
        """Also compare the printed text, ignoring trailing newlines and spaces at line ends."""
        return replace(self, prints=True)

    def bringing(self, source: str) -> Agree:
        """Call functions of `source`, a helper module that runs in the process of each program.

        `agree.bringing(text).JoiningCache()` returns a pair of objects that can be arguments of the
        submission's functions. `agree.bringing(text).probe(pair)` inspects each object in the
        process that created the object.
        """
        return replace(self, brought=source)

    @property
    def in_a_row(self) -> Agree:
        """Make one call for each tuple of arguments, and backpropagate only after the last call.

        `agree.gradients.in_a_row.f((x, 0), (y, 1))` fails if the second call overwrites state that
        the first call needs for its backward pass, as in a network that calls f in every layer.
        """
        return self.bringing(IN_A_ROW)

    def call(self, name: str, *args: Any, **kwargs: Any) -> Any:
        """Call the function with this name or path, such as "FlashAttention.apply", and compare."""
        case = self.case
        if self.brought == IN_A_ROW:
            name, args = "in_a_row", (name, *args)
        if is_class(name):
            return self._construct(name, args, kwargs)
        options = CallOptions(brought=self.brought, printing=self.prints)
        expected = case.reference.call(case, name, args, kwargs, options)
        if isinstance(expected.value, frames.HandleV):
            return self._construct(name, args, kwargs)
        student = options.but(order=self.order, kernels_only=self.kernels_only)
        calls = BothCalls(name, args, kwargs, student, options, options)
        return compare_calls(self, calls, expected)

    def _construct(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Pair:
        """Create an object in both programs; torch modules get the same random parameters."""
        case, from_class = self.case, is_class(name)
        plain = options = CallOptions(brought=self.brought)
        if from_class:
            options = plain.but(construct=True, dtype=case.dtype)
        # The reference's object shows whether to expect a module, and which parameters to draw.
        reference = case.reference.call(case, name, args, kwargs, options)
        if not isinstance(reference.value, frames.HandleV):
            raise GraderFault(f"{name} of the reference does not make an object")
        parameters = reference.value.state
        if parameters is None:  # not a torch module, so it cannot be cast or moved
            options = plain
        elif from_class:
            state = {key: self._drawn(key, *kind) for key, kind in parameters.items()}
            options = options.but(state=state)
            reference = case.reference.call(case, name, args, kwargs, options)
        student = case.student.call(case, name, args, kwargs, options)
        if not isinstance(student.value, frames.HandleV):
            raise Wrong(f"`{name}` should make an object, but returns something else.", Flaw.KIND)
        if parameters is not None and student.value.state is None:
            raise Wrong(f"`{name}` should be a torch nn.Module, but is not.", Flaw.KIND)
        if self.pure and not from_class:  # a constructor may draw its initial weights
            check_side_effects(student.reply, f"`{name}`")
        if options.dtype is not None:
            options = options.but(dtype="float64")
        precise = case.call_in_float64(name, args, kwargs, options)
        common = {n: getattr(self, n) for n in Comparison.__dataclass_fields__}
        return Pair(
            **common,
            made_by=name,
            parameters=tuple(options.state or ()),
            on_student=RemoteObject(
                case, case.student, student.value, case.signatures.class_of(name)
            ),
            on_reference=RemoteObject(case, case.reference, reference.value),
            on_precise=RemoteObject(case, case.precise, precise.value) if precise else None,
        )

    def _drawn(self, key: str, dtype: str, shape: tuple[int, ...]) -> torch.Tensor:
        target = TORCH_DTYPES.get(dtype, torch.float32)
        if not target.is_floating_point:
            raise GraderFault(f"the reference's parameter {key} is not a float tensor")
        return self.case.draw.like(shape, target, self.state_std)


@dataclass(frozen=True, kw_only=True, eq=False)
class Pair(Comparison, NamedCalls, Container):
    """The objects that the submission and the reference create in the same call.

    Calling a method of the pair calls the method of both objects and compares the results.

    made_by:    the path of the call that created the objects
    parameters: the names of the objects' parameters
    on_precise: the reference's object in float64, or None if there is no such object
    """

    made_by: str
    parameters: tuple[str, ...]
    on_student: RemoteObject
    on_reference: RemoteObject
    on_precise: RemoteObject | None

    @property
    def student(self) -> Remote:
        """The student's object, for calls without a comparison."""
        return Remote(self.on_student)

    @property
    def reference(self) -> Remote:
        """The reference's object, for calls without a comparison."""
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
        """Compare a data attribute of the two objects; return the student's value."""
        expected, actual = self.on_reference.fetch(name), self.on_student.fetch(name)
        where = f"`{self.made_by}.{name}`"
        compare(actual.value, expected.value, None, self.tolerance, where)
        return actual.value

    def fields(self, *names: str) -> Pair:
        """Compare several attributes of the two objects, such as the fields of a dataclass."""
        for name in names:
            self.attribute(name)
        return self

    def call(self, name: str, *args: Any, **kwargs: Any) -> Any:
        """Compare a call to a method or operator, such as `pair.call("__add__", other)`."""
        expected = self.on_reference.call(name, args, kwargs)
        student, reference = self.on_student.options, self.on_reference.options
        precise = self.on_precise.options if self.on_precise is not None else None
        calls = BothCalls(name, args, kwargs, student, reference, precise, self.parameters)
        return compare_calls(self, calls, expected)

    def _operator(self, method: str, *args: Any) -> Any:
        return self.call(method, *args)

    def train(self, mode: bool = True) -> Pair:
        """Switch the modules to training mode, or to evaluation mode if `mode` is False."""
        for remote in self._objects():
            remote.call("train", (mode,))
        return self

    def eval(self) -> Pair:
        """Switch the modules to evaluation mode."""
        return self.train(False)

    def state(self) -> Any:
        """Compare the state dicts, for example after training; return the student's."""
        return replace(self, pure=False).call("state_dict")


class Refuses:
    """`refuses(ValueError, mentions=7).f(...)` requires a ValueError whose message contains 7.

    If the message may contain any of several numbers, pass a tuple: `mentions=(9, 12)`.
    """

    def __init__(self, case: Case) -> None:
        self._case = case

    def __call__(self, error: type[Exception], mentions: object = "") -> _Refusal:
        if not (isinstance(error, type) and issubclass(error, BaseException)):
            raise GraderFault("refuses takes the class of an exception: refuses(ValueError).f(...)")
        alternatives = mentions if isinstance(mentions, tuple) else (mentions,)
        return _Refusal(self._case, error.__name__, tuple(map(str, alternatives)))


class _Refusal(NamedCalls):
    def __init__(self, case: Case, error: str, mentions: tuple[str, ...]) -> None:
        self._case, self._error, self._mentions = case, error, mentions

    def of(self, remote: HasRemoteObject, method: str = "") -> Callable[..., None]:
        """Return a function that checks calls to an object, or to its method `method`."""
        return partial(self._check, method, remote.object_on(self._case.student).options)

    def call(self, path: str, *args: Any, **kwargs: Any) -> None:
        self._check(path, PLAIN, *args, **kwargs)

    def _check(self, path: str, options: CallOptions, /, *args: Any, **kwargs: Any) -> None:
        name = options.qualified(path)
        subject = f"`{name}`" if name else "The model"
        try:
            self._case.student.call(self._case, path, args, kwargs, options)
        except Outcome as outcome:
            if outcome.raised is None or isinstance(outcome, Unwritten):
                raise
            self._check_error(outcome.raised, subject)
        else:
            raise Wrong(
                f"{subject} should raise {self._error} for these arguments, but accepts them.",
                Flaw.REFUSAL,
            )

    def _check_error(self, raised: frames.Raised, subject: str) -> None:
        words, budget = AllowedWords(self._case.student.source), MessageBudget()
        if self._error not in raised.bases:
            error = words.error(raised, budget)
            has = "an exception" if error == UNKNOWN else error
            raise Wrong(
                f"{subject} should raise {self._error} here, but raises {has}.", Flaw.REFUSAL
            )
        if not any(number in raised.message for number in self._mentions):
            raise Wrong(
                f"{subject} raises {self._error}, but its message does not name the wrong value.",
                Flaw.REFUSAL,
            )
