"""The vocabulary of hidden graders: submission, reference, agree, refuses, count.

A grader author writes `agree.softmax(x, dim=1)` and has a call of the student's function and of
the reference on the same inputs, compared in kind, shape, dtype, device, finiteness and values,
with the arguments and the global state checked to be untouched. Nothing here knows of frames or
sandboxes: a `Side` answers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import torch

from ..worker import wire
from ..worker.values import TORCH_DTYPES
from .case import WIRE_DEVICE, Case, ReferenceRaised, Seen, Side
from .compare import Tolerance, compare
from .outcomes import Crashed, GraderFault, LimitExceeded, Wrong

EXACT = Tolerance(0.0)


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
        seen = self._side.call(
            self._case, path, args, kwargs, handle=self._handle.id, **options
        )
        return _wrap(self._case, self._side, seen.value)


class _Attribute:
    """`object.name` where that is a method or a submodule."""

    def __init__(self, remote: Remote, path: str) -> None:
        self._remote, self._path = remote, path

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._remote._invoke(self._path, args, kwargs)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._remote, f"{self._path}.{name}")


def _wrap(case: Case, side: Side, value: Any) -> Any:
    if isinstance(value, wire.HandleV):
        return Remote(case, side, value)
    if isinstance(value, tuple):
        return tuple(_wrap(case, side, v) for v in value)
    return value


def _is_class(path: str) -> bool:
    """Whether a path names a class: `SelfAttention`, but not `FlashAttention.apply`."""
    return path[:1].isupper() and "." not in path


class Calls:
    """`submission.f(...)` and `reference.f(...)`: plain values come back.

    `submission.call("Class.method", ...)` takes a dotted path in place of the name.
    """

    def __init__(self, case: Case, side: Side) -> None:
        self._case, self._side = case, side

    def call(self, path: str, *args: Any, **kwargs: Any) -> Any:
        options: dict[str, Any] = {"construct": _is_class(path)}
        if _is_class(path):
            options["dtype"] = self._case.dtype
        seen = self._side.call(self._case, path, args, kwargs, **options)
        return _wrap(self._case, self._side, seen.value)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("__"):
            raise AttributeError(name)
        return partial(self.call, name)


@dataclass(frozen=True)
class Agree:
    """`agree.f(...)`: both sides are called and must agree. The student's result comes back."""

    case: Case
    tolerance: Tolerance = Tolerance()
    with_gradients: bool = False
    pure: bool = True
    view: Callable[[Any], Any] | None = None
    state_std: float = 0.3

    @property
    def gradients(self) -> Agree:
        """Compare the gradients of every float input too."""
        return replace(self, with_gradients=True)

    @property
    def exactly(self) -> Agree:
        return replace(self, tolerance=EXACT)

    @property
    def impurely(self) -> Agree:
        """Without the check of arguments and global state (training changes them)."""
        return replace(self, pure=False)

    def within(self, atol: float, rtol: float = 0.0) -> Agree:
        return replace(self, tolerance=Tolerance(atol, rtol))

    def only(self, view: Callable[[Any], Any]) -> Agree:
        """Compare `view(result)` instead of the result."""
        return replace(self, view=view)

    def weights(self, std: float) -> Agree:
        """Draw the parameters of modules with this standard deviation (default 0.3)."""
        return replace(self, state_std=std)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("__"):
            raise AttributeError(name)
        return partial(self.call, name)

    def call(self, name: str, *args: Any, **kwargs: Any) -> Any:
        """The call by name or dotted path ("FlashAttention.apply")."""
        case = self.case
        if _is_class(name):
            return self._construct(name, args, kwargs)
        expected = case.reference.call(case, name, args, kwargs)
        if isinstance(expected.value, wire.HandleV):
            return self._construct(name, args, kwargs)
        return self._compared(expected, name, args, kwargs, {}, {}, {})

    def _construct(self, name: str, args: Any, kwargs: Any) -> Pair:
        """Build both objects; torch modules get the same drawn weights."""
        case = self.case
        is_class = _is_class(name)
        options: dict[str, Any] = {"construct": is_class}
        if is_class:
            options["dtype"] = case.dtype
        # A probe on the reference tells whether it is a module and what weights it has.
        shape = case.reference.call(case, name, args, kwargs, **options)
        if not isinstance(shape.value, wire.HandleV):
            raise GraderFault(f"{name} of the reference is no object")
        reference, state = shape, None
        if shape.value.state is not None and is_class:
            state = {
                key: self._drawn(key, dtype, dims)
                for key, (dtype, dims) in shape.value.state.items()
            }
            reference = case.reference.call(case, name, args, kwargs, state=state, **options)
        student = case.student.call(case, name, args, kwargs, state=state, **options)
        if not isinstance(student.value, wire.HandleV):
            raise Wrong(f"`{name}` should make an object, but gives something else.")
        if reference.value.state is not None and student.value.state is None:
            raise Wrong(f"`{name}` should be a torch nn.Module, but is not.")
        return Pair(self, name, args, kwargs, options, state, student, reference)

    def _drawn(self, key: str, dtype: str, shape: tuple[int, ...]) -> torch.Tensor:
        target = TORCH_DTYPES.get(dtype, torch.float32)
        if not target.is_floating_point:
            raise GraderFault(f"the reference's parameter {key} is no float tensor")
        return self.case.draw.like(shape, target, self.state_std)

    def _compared(
        self,
        expected: Seen,
        path: str,
        args: Any,
        kwargs: Any,
        on_student: dict[str, Any],
        on_reference: dict[str, Any],
        on_precise: dict[str, Any] | None,
    ) -> Any:
        """Call the student's side like the reference's was, and compare."""
        case = self.case
        cotangents = self._cotangents(expected) if self.with_gradients else None
        if cotangents is not None:
            expected = case.reference.call(
                case, path, args, kwargs, cotangents=cotangents, **on_reference
            )
        actual = case.student.call(case, path, args, kwargs, cotangents=cotangents, **on_student)
        finer = None
        if on_precise is not None and case.dtype != "float64":
            finer = self._precise(path, args, kwargs, cotangents, on_precise)
        shown = f"`{path or 'the module'}`"
        view = self.view or (lambda x: x)
        try:
            mine = view(actual.value)
        except Exception:  # the view is made for results of the right kind
            compare(actual.value, expected.value, None, self.tolerance, f"The result of {shown}")
            raise
        theirs, fine = view(expected.value), None if finer is None else view(finer.value)
        compare(mine, theirs, fine, self.tolerance, f"The result of {shown}")
        self._check_devices(actual.raw, shown)
        if cotangents is not None:
            self._compare_gradients(actual, expected, finer, cotangents, shown)
        if self.pure:
            self._check_purity(actual.reply, shown)
        return _wrap(case, case.student, actual.value)

    def _precise(
        self, path: str, args: Any, kwargs: Any, cotangents: Any, options: dict[str, Any]
    ) -> Seen | None:
        try:
            return self.case.precise.call(
                self.case, path, args, kwargs, cotangents=cotangents, **options
            )
        except GraderFault:
            return None  # not everything runs in float64; the reference's own dtype then decides

    def _cotangents(self, expected: Seen) -> list[torch.Tensor]:
        return [
            self.case.draw.like(tuple(y.shape), y.dtype)
            for y in _tensors(expected.value)
            if y.is_floating_point()
        ]

    def _compare_gradients(
        self, actual: Seen, expected: Seen, finer: Seen | None, cotangents: Any, shown: str
    ) -> None:
        if actual.reply.detached and not expected.reply.detached:
            raise Wrong(
                f"The result of {shown} carries no gradient. Did something leave torch on the way "
                "(.item(), .numpy(), .detach(), torch.no_grad, a new tensor from numbers)?"
            )
        mine, theirs = actual.gradients or (), expected.gradients or ()
        if len(mine) != len(theirs):
            raise Wrong(f"{shown} is not differentiable in the same inputs as asked.")
        fine = finer.gradients if finer and finer.gradients else theirs
        sizes = [float(c.abs().max()) for c in cotangents if c.numel() and not c.is_meta]
        sizes += [float(g.abs().max()) for g in theirs if g is not None and g.numel() and not g.is_meta]
        tolerance = replace(self.tolerance, terms=max(sizes, default=0.0))
        for number, (g, e, f) in enumerate(zip(mine, theirs, fine, strict=True)):
            if e is None and g is None:
                continue
            e = torch.zeros_like(g) if e is None else e
            g = torch.zeros_like(e) if g is None else g
            where = f"The gradient of {shown} for input {number + 1}"
            compare(g, e, e.double() if f is None else f, tolerance, where)

    def _check_devices(self, raw: wire.Value, shown: str) -> None:
        wanted = WIRE_DEVICE[self.case.device]
        for device in _devices(raw):
            if device != wanted:
                raise Wrong(
                    f"The result of {shown} lies on {device!r}, but the inputs lie on {wanted!r}. "
                    "Make new tensors on the device of an input (device=x.device)."
                )

    def _check_purity(self, reply: wire.Reply, shown: str) -> None:
        if reply.mutated:
            raise Wrong(
                f"{shown} changes its argument in place ({reply.mutated[0]}). "
                "The caller may still need it."
            )
        if reply.side_effects:
            raise Wrong(f"{shown} changes {reply.side_effects[0]}, which belongs to the caller.")


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
        compare(actual.value, expected.value, None, self._agree.tolerance, where)
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
        return agree._compared(
            expected, path, args, kwargs, on_student, on_reference, on_precise
        )


class Refuses:
    """`refuses(ValueError, mentions="7").f(...)`: the call must raise, and say the number."""

    def __init__(self, case: Case) -> None:
        self._case = case

    def __call__(self, error: type[Exception], mentions: object = "") -> _Refusal:
        return _Refusal(self._case, error.__name__, str(mentions))


class _Refusal:
    def __init__(self, case: Case, error: str, mentions: str) -> None:
        self._case, self._error, self._mentions = case, error, mentions

    def of(self, remote: Any) -> Callable[..., None]:
        """The call of an object: a Pair, or one side's object."""

        def call(*args: Any, **kwargs: Any) -> None:
            student = remote.student if isinstance(remote, Pair) else remote
            self._check("", args, kwargs, {"handle": student._handle.id})

        return call

    def __getattr__(self, name: str) -> Callable[..., None]:
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *args, **kwargs: self._check(name, args, kwargs, {})

    def _check(self, name: str, args: Any, kwargs: Any, options: dict[str, Any]) -> None:
        shown = f"`{name or 'the module'}`"
        side = self._case.student
        try:
            side.call(self._case, name, args, kwargs, **options)
        except Crashed:
            last = side.answers[-1]
            if isinstance(last, tuple) and last[0].raised and last[0].status == "raised":
                self._judge(last[0].raised, shown)
                return
            raise
        except ReferenceRaised as raised:  # the reference itself stands in for the student
            assert raised.reply.raised is not None
            self._judge(raised.reply.raised, shown)
            return
        raise Wrong(f"{shown} should refuse these arguments with {self._error}, but accepts them.")

    def _judge(self, raised: wire.Raised, shown: str) -> None:
        if "NotImplementedError" in raised.bases:
            raise Crashed(f"{shown} is not filled in yet.")
        if self._error not in raised.bases:
            raise Wrong(f"{shown} should raise {self._error} here, but raises {raised.type}.")
        if self._mentions and self._mentions not in raised.message:
            raise Wrong(f"{shown} raises {self._error}, but its message does not say which value.")


@dataclass(frozen=True)
class Counted:
    """Work of one call: floating-point operations, elements of the largest tensor made, operations."""

    flops: int
    largest: int
    ops: int
    value: Any


class Count:
    """`count.f(...)`: run the student's function and count its work (torch operations only)."""

    def __init__(self, case: Case) -> None:
        self._case = case

    def of(self, remote: Remote) -> Callable[..., Counted]:
        return lambda *a, **k: self._count("", a, k, {"handle": remote._handle.id})

    def call(self, path: str, *args: Any, **kwargs: Any) -> Counted:
        return self._count(path, args, kwargs, {})

    def __getattr__(self, name: str) -> Callable[..., Counted]:
        if name.startswith("__"):
            raise AttributeError(name)
        return partial(self.call, name)

    def _count(self, name: str, args: Any, kwargs: Any, options: dict[str, Any]) -> Counted:
        seen = self._case.student.call(self._case, name, args, kwargs, count=True, **options)
        counts = seen.reply.counts
        if counts is None or counts.ops == 0:
            raise LimitExceeded("No torch operation was seen in this call.")
        return Counted(counts.flops, counts.largest, counts.ops, seen.value)


def _tensors(value: Any) -> Iterator[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from _tensors(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from _tensors(item)


def _devices(raw: wire.Value) -> Iterator[str]:
    if isinstance(raw, wire.TensorV):
        yield raw.device
    elif isinstance(raw, (wire.SeqV, wire.MapV)):
        for item in raw.items:
            yield from _devices(item)


__all__ = ["Agree", "Calls", "Count", "Counted", "Pair", "Refuses", "Remote"]
