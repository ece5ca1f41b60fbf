"""Calling both sides alike and comparing all that comes back.

What is compared: kind, shape, dtype, device, finiteness and values; gradients where they are
asked for; and that arguments and the global state are as they were.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Self

import torch

from ...model.device_axes import AXES
from ...worker.protocol import frames
from ...worker.protocol.frames import Effect
from ..comparator import EXACT, Tolerance, verdict_bound
from ..disclosure.leak_budget import few
from ..disclosure.signatures import NamedParts, Names
from ..outcomes import BadReply, Flaw, GraderFault, Wrong
from .call_options import CallOptions
from .calls import wrap
from .case import Case, Seen
from .value_comparison import compare

_BESIDE_THE_KERNEL = (
    "Something beside the kernel computes. Around it, torch may make, copy and view tensors, and "
    "nothing else."
)


@dataclass(frozen=True)
class Comparison:
    """What of two results is compared, and how closely."""

    case: Case
    tolerance: Tolerance | None = None  # None: derived from the dtype
    with_gradients: bool = False
    pure: bool = True
    view: Callable[[Any], Any] | None = None

    @property
    def gradients(self) -> Self:
        """Compare the gradients of every float input too."""
        return replace(self, with_gradients=True)

    @property
    def exactly(self) -> Self:
        """Allow no rounding."""
        return replace(self, tolerance=EXACT)

    @property
    def impurely(self) -> Self:
        """Without the check of arguments and global state (training changes them)."""
        return replace(self, pure=False)

    def within(self, atol: float, rtol: float = 0.0) -> Self:
        """Allow this difference, and this share of the largest entry."""
        if not all(isinstance(bound, int | float) for bound in (atol, rtol)):
            raise GraderFault("within takes two numbers: within(atol, rtol)")
        return replace(self, tolerance=Tolerance(atol, rtol))

    def only(self, view: Callable[[Any], Any]) -> Self:
        """Compare `view(result)` instead of the result."""
        if not callable(view):
            raise GraderFault("only takes a function of the result: only(lambda result: ...)")
        return replace(self, view=view)


# Several calls of one exercise, made before gradients flow back through any of them.
IN_A_ROW = """
def in_a_row(name, *calls):
    called = submission
    for part in name.split("."):
        called = getattr(called, part)
    return [called(*arguments) for arguments in calls]
"""


@lru_cache(maxsize=64)  # the same few modules are brought to every submission
def _names_in(source: str) -> Names:
    return Names(source)


@dataclass(frozen=True)
class BothCalls:
    """One call, as each side is asked for it. Without `precise`, float64 is not asked."""

    path: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    student: CallOptions
    reference: CallOptions
    precise: CallOptions | None
    parameters: tuple[str, ...] = ()

    @property
    def in_a_row(self) -> bool:
        """Whether these are several calls of what the first argument names."""
        return self.student.brought == IN_A_ROW

    @property
    def named(self) -> str:
        """What is called: an object's method with the name of its class, a module by it alone."""
        if self.in_a_row:
            return str(self.args[0])
        return ".".join(part for part in (self.student.owner, self.path) if part)

    @property
    def shown(self) -> str:
        """What is called; names of the grader's own code tell a student nothing."""
        if self.student.brought and not self.in_a_row:
            return "A call of this check"
        return f"`{self.named}`" if self.named else "the model"

    @property
    def whose(self) -> str:
        """Whose result or gradient it is."""
        return "this check" if self.student.brought and not self.in_a_row else self.shown

    def result(self, names: Names) -> NamedParts:
        """What is compared, in words."""
        said = f"The result of {self.whose}"
        return NamedParts.of_calls(said) if self.in_a_row else names.result(self.named, said)

    def inputs(self, names: Names, count: int) -> list[str]:
        """Whose gradients come back, in words."""
        if self.in_a_row:
            known = names.inputs_of_calls(self.named, self.args[1:])
        else:
            names = _names_in(self.student.brought) if self.student.brought else names
            known = [f"`{name}`" for name in names.inputs(self.named, self.args, self.kwargs)]
        known += [f"its parameter `{name}`" for name in self.parameters]
        return known if len(known) == count else [f"input {n + 1}" for n in range(count)]


def compare_calls(how: Comparison, calls: BothCalls, expected: Seen) -> Any:
    """Call the student's side as the reference's was, and compare; the student's result."""
    case, shown = how.case, calls.shown
    path, args, kwargs = calls.path, calls.args, calls.kwargs
    cotangents = case.cotangents(expected.value) if how.with_gradients else None
    if cotangents is not None:
        pulling = calls.reference.pulling(cotangents)
        expected = case.reference.call(case, path, args, kwargs, pulling)
    actual = case.student.call(case, path, args, kwargs, calls.student.pulling(cotangents))
    finer = _in_float64(case, calls, cotangents)
    if calls.student.printing:
        actual, expected, finer = compare_printed(actual, expected, finer, shown)
    view, tolerance, where = how.view or _as_it_is, how.tolerance, calls.result(case.names)
    try:
        mine = view(actual.value)
    except Exception:  # the view is made for results of the right kind
        compare(actual.value, expected.value, None, tolerance, where)
        raise
    theirs, fine = view(expected.value), None if finer is None else view(finer.value)
    compare(mine, theirs, fine, tolerance, where)
    if calls.student.kernels_only and actual.reply.counts and actual.reply.counts.computed:
        raise Wrong(_BESIDE_THE_KERNEL, Flaw.CLAIM)
    _check_devices(case, actual.raw, shown)
    if cotangents is not None:
        compare_gradients(actual, expected, finer, cotangents, tolerance, calls, case.names)
    if how.pure:
        check_purity(actual.reply, shown)
    return wrap(case, case.student, actual.value)


def compare_printed(
    actual: Seen, expected: Seen, finer: Seen | None, shown: str
) -> tuple[Seen, Seen, Seen | None]:
    """Compare what was printed; the results without it."""
    mine, theirs = actual.value, expected.value
    if not (isinstance(mine, tuple) and len(mine) == 2 and isinstance(mine[1], str)):
        raise BadReply("What your function returned does not fit together.")
    compare(mine[1].rstrip("\n"), theirs[1].rstrip("\n"), None, EXACT, f"What {shown} prints")
    if finer is not None:
        finer = replace(finer, value=finer.value[0])
    return replace(actual, value=mine[0]), replace(expected, value=theirs[0]), finer


def _in_float64(
    case: Case, calls: BothCalls, cotangents: Sequence[torch.Tensor] | None
) -> Seen | None:
    if calls.precise is None or case.dtype == "float64":
        return None
    options = calls.precise.pulling(cotangents)
    try:
        return case.precise.call(case, calls.path, calls.args, calls.kwargs, options)
    except GraderFault:
        return None  # not everything runs in float64; the reference's own dtype then decides


def compare_gradients(
    actual: Seen,
    expected: Seen,
    finer: Seen | None,
    cotangents: Sequence[torch.Tensor],
    tolerance: Tolerance | None,
    calls: BothCalls,
    names: Names,
) -> None:
    shown = calls.shown
    if actual.reply.detached and not expected.reply.detached:
        raise Wrong(
            f"The result of {calls.whose} carries no gradient. Did something leave torch on the "
            "way (.item(), .numpy(), .detach(), torch.no_grad, a new tensor from numbers)?",
            Flaw.DETACHED,
        )
    mine, theirs = actual.gradients or (), expected.gradients or ()
    if len(mine) != len(theirs):
        raise Wrong(f"{shown} is not differentiable in the same inputs as asked.", Flaw.DETACHED)
    fine = finer.gradients if finer and finer.gradients else theirs
    sizes = [float(c.abs().max()) for c in cotangents if c.numel() and not c.is_meta]
    sizes += [float(g.abs().max()) for g in theirs if g is not None and g.numel() and not g.is_meta]
    terms = max(sizes, default=0.0)
    inputs = calls.inputs(names, len(theirs))
    for name, g, e, f in zip(inputs, mine, theirs, fine, strict=True):
        where = f"The gradient of {calls.whose} for {name}"
        if e is not None:
            g = torch.zeros_like(e) if g is None else g
            try:
                compare(g, e, e.double() if f is None else f, tolerance, where, terms)
            except Wrong as wrong:
                raise Wrong(wrong.message, Flaw.GRADIENT) from None
        elif g is not None:  # what has no gradient may have one of zeros
            zero = torch.zeros(())
            small = verdict_bound(zero, zero, tolerance, terms)
            if not (g.is_meta or (g.is_floating_point() and _all_below(g, small))):
                raise Wrong(f"{where} should be zero or none.", Flaw.GRADIENT)


_STILL_NEEDED = "The caller may still need it."
_THE_CALLERS = "which belongs to the caller."
_CHANGED = {
    Effect.TENSOR: f"its argument in place (tensor {{}}). {_STILL_NEEDED}",
    Effect.TENSOR_SHAPE: f"its argument's shape in place (tensor {{}}). {_STILL_NEEDED}",
    Effect.ARRAY: f"its argument in place (array {{}}). {_STILL_NEEDED}",
    Effect.MODE: f"its argument's mode, training or evaluation. {_STILL_NEEDED}",
    Effect.ATTENTION: f"its argument's attention implementation. {_STILL_NEEDED}",
    Effect.OUTPUT_ATTENTIONS: f"its config's output_attentions. {_STILL_NEEDED}",
    Effect.TORCH_RANDOM: f"torch's global random state, {_THE_CALLERS}",
    Effect.NUMPY_RANDOM: f"numpy's global random state, {_THE_CALLERS}",
    Effect.PYTHON_RANDOM: f"Python's global random state, {_THE_CALLERS}",
    Effect.DEFAULT_DTYPE: f"torch's default dtype, {_THE_CALLERS}",
    Effect.GRADIENT_MODE: f"torch's gradient mode, {_THE_CALLERS}",
    Effect.DEFAULT_DEVICE: f"torch's default device, {_THE_CALLERS}",
    Effect.THREADS: f"the number of threads, {_THE_CALLERS}",
    Effect.PRINTING: f"how arrays or tensors are printed, {_THE_CALLERS}",
    Effect.NUMPY_ERRORS: f"how numpy treats floating-point errors, {_THE_CALLERS}",
    Effect.DRAWING_SETTINGS: f"matplotlib's settings, {_THE_CALLERS}",
    Effect.WINDOW: "what is on the screen: it shows a window. Return the drawing instead.",
    Effect.OTHER_FIGURES: f"which figures are open beside its own, {_THE_CALLERS}",
    Effect.SHARED_MEMORY: f"memory that it shares with its argument, {_THE_CALLERS}",
}


def check_purity(reply: frames.Reply, shown: str) -> None:
    if reply.side_effects:
        first = reply.side_effects[0]
        changed = _CHANGED[first.effect].format(few(first.argument))
        raise Wrong(f"{shown} changes {changed}", Flaw.EFFECT)


def _check_devices(case: Case, raw: frames.Value, shown: str) -> None:
    wanted = AXES[case.device].torch
    for device in _devices(raw):
        if device != wanted:
            raise Wrong(
                f"The result of {shown} lies on {device!r}, but the inputs lie on {wanted!r}. "
                "Make new tensors on the device of an input (device=x.device).",
                Flaw.DEVICE,
            )


def _as_it_is(value: Any) -> Any:
    return value


def _all_below(x: torch.Tensor, bound: float) -> bool:
    return not x.numel() or float(x.abs().max()) <= bound  # NaN is not


def _devices(raw: frames.Value) -> Iterator[str]:
    if isinstance(raw, frames.TensorV):
        yield raw.device
    elif isinstance(raw, (frames.SeqV, frames.MapV)):
        for item in raw.items:
            yield from _devices(item)
