"""The workhorse of hidden graders: `agree.f(...)` calls both sides and compares everything.

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

from ..model.axes import AXES
from ..worker import wire
from ..worker.values import TORCH_DTYPES
from .case import Case, Seen
from .compare import DERIVED, EXACT, Tolerance, compare
from .outcomes import GraderFault, Wrong
from .pair import Pair
from .remote import is_class, wrap


@dataclass(frozen=True)
class Agree:
    """`agree.f(...)`: both sides are called and must agree. The student's result comes back."""

    case: Case
    tolerance: Tolerance = DERIVED
    with_gradients: bool = False
    pure: bool = True
    view: Callable[[Any], Any] | None = None
    state_std: float = 0.3
    brought: str = ""

    @property
    def _tolerance(self) -> Tolerance:
        return replace(self.tolerance, with_nan=True) if self.case.composed else self.tolerance

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

    def bringing(self, source: str) -> Agree:
        """Call what `source`, a module of the grader's own, defines, beside the submission.

        `agree.bringing(text).JoiningCache()` gives a pair of objects that can be passed on to calls
        of the submission; `agree.bringing(text).probe(pair)` looks at its objects from within.
        """
        return replace(self, brought=source)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("__"):
            raise AttributeError(name)
        return partial(self.call, name)

    def call(self, name: str, *args: Any, **kwargs: Any) -> Any:
        """The call by name or dotted path ("FlashAttention.apply")."""
        case = self.case
        if is_class(name):
            return self._construct(name, args, kwargs)
        options: dict[str, Any] = {"brought": self.brought}
        expected = case.reference.call(case, name, args, kwargs, **options)
        if isinstance(expected.value, wire.HandleV):
            return self._construct(name, args, kwargs)
        return self._compared(expected, name, args, kwargs, options, options, options)

    def _construct(self, name: str, args: Any, kwargs: Any) -> Pair:
        """Build both objects; torch modules get the same drawn weights."""
        case = self.case
        a_class = is_class(name)
        options: dict[str, Any] = {"construct": a_class, "brought": self.brought}
        if a_class:
            options["dtype"] = case.dtype
        # A probe on the reference tells whether it is a module and what weights it has.
        shape = case.reference.call(case, name, args, kwargs, **options)
        if not isinstance(shape.value, wire.HandleV):
            raise GraderFault(f"{name} of the reference is no object")
        reference, state = shape, None
        if shape.value.state is None:  # no torch module: one that is shall not be cast and moved
            options = {"brought": self.brought}
        if shape.value.state is not None and a_class:
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
        if self.pure and not a_class:  # a constructor may draw its first weights
            self._check_purity(student.reply, f"`{name}`")
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
        cotangents = case.cotangents(expected.value) if self.with_gradients else None
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
            compare(actual.value, expected.value, None, self._tolerance, f"The result of {shown}")
            raise
        theirs, fine = view(expected.value), None if finer is None else view(finer.value)
        compare(mine, theirs, fine, self._tolerance, f"The result of {shown}")
        self._check_devices(actual.raw, shown)
        if cotangents is not None:
            self._compare_gradients(actual, expected, finer, cotangents, shown)
        if self.pure:
            self._check_purity(actual.reply, shown)
        return wrap(case, case.student, actual.value)

    def _precise(
        self, path: str, args: Any, kwargs: Any, cotangents: Any, options: dict[str, Any]
    ) -> Seen | None:
        try:
            return self.case.precise.call(
                self.case, path, args, kwargs, cotangents=cotangents, **options
            )
        except GraderFault:
            return None  # not everything runs in float64; the reference's own dtype then decides

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
        sizes += [
            float(g.abs().max()) for g in theirs if g is not None and g.numel() and not g.is_meta
        ]
        tolerance = replace(self._tolerance, terms=max(sizes, default=0.0))
        for number, (g, e, f) in enumerate(zip(mine, theirs, fine, strict=True)):
            where = f"The gradient of {shown} for input {number + 1}"
            if e is not None:
                g = torch.zeros_like(e) if g is None else g
                compare(g, e, e.double() if f is None else f, tolerance, where)
            elif g is not None:  # what has no gradient may have one of zeros
                small = tolerance.bound(torch.zeros((), dtype=torch.float32), torch.zeros(()))
                if not (g.is_meta or (g.is_floating_point() and _all_below(g, small))):
                    raise Wrong(f"{where} should be zero or none.")

    def _check_devices(self, raw: wire.Value, shown: str) -> None:
        wanted = AXES[self.case.device].torch
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


def _all_below(x: torch.Tensor, bound: float) -> bool:
    return not x.numel() or float(x.abs().max()) <= bound  # NaN is not


def _devices(raw: wire.Value) -> Iterator[str]:
    if isinstance(raw, wire.TensorV):
        yield raw.device
    elif isinstance(raw, (wire.SeqV, wire.MapV)):
        for item in raw.items:
            yield from _devices(item)
