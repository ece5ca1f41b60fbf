"""Make the same call to the submission and the reference, and compare the results.

The comparison covers type, shape, dtype, device, finiteness and values, and gradients on request. A
call must also leave its arguments and global state unchanged.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Self

import torch

from ...model.availability import AXES
from ...model.report.findings import EFFECTS
from ...worker.protocol import frames
from ...worker.protocol.frames import nested
from ..comparator import EXACT, Tolerance, largest_entry, verdict_bound
from ..disclosure.leak_budget import few
from ..disclosure.signatures import NamedParts, Signatures
from ..outcomes import BadReply, Flaw, GraderFault, Outcome, Wrong
from .calls import wrap
from .case import CallOptions, CallResult, Case
from .value_comparison import compare

_OUTSIDE_A_KERNEL = (
    "Something outside of a kernel computes. Around kernels, torch may only make, copy and view "
    "tensors."
)


@dataclass(frozen=True)
class Comparison:
    """The options of a comparison: the parts of two results to compare, and the tolerance.

    tolerance: the allowed difference; None derives it from the dtype
    pure:      whether the call must leave its arguments and global state unchanged
    view:      a function that is applied to both results before they are compared, or None
    """

    case: Case
    tolerance: Tolerance | None = None
    with_gradients: bool = False
    pure: bool = True
    view: Callable[[Any], Any] | None = None

    @property
    def gradients(self) -> Self:
        """Compare the gradients of every float input as well."""
        return replace(self, with_gradients=True)

    @property
    def exactly(self) -> Self:
        """Require exact equality, without a tolerance for rounding."""
        return replace(self, tolerance=EXACT)

    @property
    def impurely(self) -> Self:
        """Allow the call to change its arguments and global state, as training does."""
        return replace(self, pure=False)

    def within(self, atol: float, rtol: float = 0.0) -> Self:
        """Allow a difference of `atol` plus `rtol` times the reference's largest entry."""
        if not all(isinstance(bound, int | float) for bound in (atol, rtol)):
            raise GraderFault("within takes two numbers: within(atol, rtol)")
        return replace(self, tolerance=Tolerance(atol, rtol))

    def only(self, view: Callable[[Any], Any]) -> Self:
        """Compare `view(result)` instead of the result."""
        if not callable(view):
            raise GraderFault("only takes a function of the result: only(lambda result: ...)")
        return replace(self, view=view)


# Makes several calls to one function before any result is backpropagated.
IN_A_ROW = """
def in_a_row(name, *calls):
    called = submission
    for part in name.split("."):
        called = getattr(called, part)
    return [called(*arguments) for arguments in calls]
"""


# The few helper modules are the same for all submissions.
_signatures_in = lru_cache(maxsize=64)(Signatures)


@dataclass(frozen=True)
class BothCalls:
    """A call to the submission and the reference, with the options for each program.

    precise:    the options for the reference in float64, or None to skip this call
    parameters: the names of the module's parameters whose gradients are compared
    """

    path: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    student: CallOptions
    reference: CallOptions
    precise: CallOptions | None
    parameters: tuple[str, ...] = ()

    @property
    def in_a_row(self) -> bool:
        """True if the call runs `in_a_row`, whose first argument names the function to call."""
        return self.student.brought == IN_A_ROW

    @property
    def is_brought(self) -> bool:
        """True if the call runs a helper module of the test, which students do not know."""
        return bool(self.student.brought) and not self.in_a_row

    @property
    def name(self) -> str:
        return str(self.args[0]) if self.in_a_row else self.student.qualified(self.path)

    @property
    def subject(self) -> str:
        """The name of the call, as the subject of a message."""
        if self.is_brought:
            return "A call of this check"
        return f"`{self.name}`" if self.name else "the model"

    @property
    def owner(self) -> str:
        """The name of the call in messages about its result."""
        return "this check" if self.is_brought else self.subject

    def result(self, signatures: Signatures) -> NamedParts:
        """Return the subject of messages about the result."""
        subject = f"The result of {self.owner}"
        if self.in_a_row:
            return NamedParts.of_calls(subject)
        return signatures.result(self.name, subject)

    def inputs(self, signatures: Signatures, count: int) -> list[str]:
        """Return names for the `count` inputs whose gradients are compared."""
        if self.in_a_row:
            known = signatures.inputs_of_calls(self.name, self.args[1:])
        else:
            brought = self.student.brought
            signatures = _signatures_in(brought) if brought else signatures
            known = [f"`{n}`" for n in signatures.inputs(self.name, self.args, self.kwargs)]
        known += [f"its parameter `{name}`" for name in self.parameters]
        return known if len(known) == count else [f"input {n + 1}" for n in range(count)]


def compare_calls(how: Comparison, calls: BothCalls, expected: CallResult) -> Any:
    """Compare the submission's result with the reference's, and return the submission's result."""
    case, subject = how.case, calls.subject
    path, args, kwargs = calls.path, calls.args, calls.kwargs
    cotangents = case.cotangents(expected.value) if how.with_gradients else None
    if cotangents is not None:
        options = calls.reference.but(cotangents=cotangents)
        expected = case.reference.call(case, path, args, kwargs, options)
    actual = case.student.call(case, path, args, kwargs, calls.student.but(cotangents=cotangents))
    precise = None
    if calls.precise is not None:
        options = calls.precise.but(cotangents=cotangents)
        precise = case.call_in_float64(path, args, kwargs, options)
    if calls.student.printing:
        actual, expected, precise = compare_printed(actual, expected, precise, subject)
    view, where = how.view or (lambda result: result), calls.result(case.signatures)
    try:
        mine = view(actual.value)
    except Exception:  # a view may fail if the result has the wrong type
        compare(actual.value, expected.value, None, how.tolerance, where)
        raise
    wide = None if precise is None else view(precise.value)
    compare(mine, view(expected.value), wide, how.tolerance, where)
    if calls.student.kernels_only and actual.reply.counts and actual.reply.counts.computed:
        raise Wrong(_OUTSIDE_A_KERNEL, Flaw.CLAIM)
    _check_devices(case, actual.raw, subject)
    if cotangents is not None:
        compare_gradients(
            actual, expected, precise, cotangents, how.tolerance, calls, case.signatures
        )
    if how.pure:
        check_side_effects(actual.reply, subject)
    return wrap(case, case.student, actual.value)


def compare_printed(
    actual: CallResult, expected: CallResult, precise: CallResult | None, subject: str
) -> tuple[CallResult, CallResult, CallResult | None]:
    """Raise Wrong if the printed texts differ; return the results without the texts."""
    mine, theirs = actual.value, expected.value
    if not (isinstance(mine, tuple) and len(mine) == 2 and isinstance(mine[1], str)):
        raise BadReply("The return value of your function is not plain data.")
    where = f"What {subject} prints"
    compare(mine[1].rstrip("\n"), theirs[1].rstrip("\n"), None, EXACT, where)
    if precise is not None:
        precise = replace(precise, value=precise.value[0])
    return replace(actual, value=mine[0]), replace(expected, value=theirs[0]), precise


def compare_gradients(
    actual: CallResult,
    expected: CallResult,
    precise: CallResult | None,
    cotangents: Sequence[torch.Tensor],
    tolerance: Tolerance | None,
    calls: BothCalls,
    signatures: Signatures,
) -> None:
    """Raise Wrong if a gradient is missing or differs from the reference's gradient."""
    if actual.reply.detached and not expected.reply.detached:
        raise Wrong(
            f"The result of {calls.owner} has no gradient. Did something detach it from the graph "
            "(.item(), .numpy(), .detach(), torch.no_grad, a new tensor made from numbers)?",
            Flaw.DETACHED,
        )
    mine, theirs = actual.gradients or (), expected.gradients or ()
    if len(mine) != len(theirs):
        raise Wrong(f"{calls.subject} is not differentiable in the same inputs.", Flaw.DETACHED)
    wide = precise.gradients if precise and precise.gradients else theirs
    terms = max(map(largest_entry, (*cotangents, *theirs)), default=0.0)
    inputs = calls.inputs(signatures, len(theirs))
    for name, g, e, w in zip(inputs, mine, theirs, wide, strict=True):
        where = f"The gradient of {calls.owner} for {name}"
        if e is not None:
            g = torch.zeros_like(e) if g is None else g
            try:
                compare(g, e, e.double() if w is None else w, tolerance, where, terms)
            except Outcome as outcome:
                outcome.flaw = Flaw.GRADIENT
                raise
        elif g is not None and not _is_zero(g, tolerance, terms):
            raise Wrong(f"{where} should be zero or None.", Flaw.GRADIENT)


def _is_zero(gradient: torch.Tensor, tolerance: Tolerance | None, terms: float) -> bool:
    if gradient.is_meta or not gradient.numel():
        return True
    zero = torch.zeros(())
    bound = verdict_bound(zero, zero, tolerance, terms)
    return gradient.is_floating_point() and float(gradient.double().abs().max()) <= bound


def check_side_effects(reply: frames.Reply, subject: str) -> None:
    """Raise Wrong if the call changed an argument or global state."""
    if reply.side_effects:
        first = reply.side_effects[0]
        changed = EFFECTS[first.effect.value].format(few(first.argument))
        raise Wrong(f"{subject} changes {changed}", Flaw.EFFECT)


def _check_devices(case: Case, raw: frames.Value, subject: str) -> None:
    wanted = AXES[case.device].torch
    for value in nested((raw,)):
        if isinstance(value, frames.TensorV) and value.device != wanted:
            raise Wrong(
                f"The result of {subject} is on {value.device!r}, but the inputs are on "
                f"{wanted!r}. Create new tensors on the device of an input (device=x.device).",
                Flaw.DEVICE,
            )
