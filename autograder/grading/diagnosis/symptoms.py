"""Describe failed tests that no misconception explains, by their outputs and exceptions.

If a student makes several mistakes at once, the outputs often match no misconception in the bank.
Some failures are clear nevertheless: an output has the wrong dtype, an argument was modified, or
shapes do not match. A symptom describes only the tests in which it appears, and never changes the
points.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import torch

from ...model.report.findings import FINDINGS, symptom_name
from ...model.report.schema import Diagnosis
from ...worker.protocol import frames
from ...worker.protocol.values import read_answer
from ..comparator import DIGITS, close, leaves
from ..disclosure.known_errors import family
from ..outcomes import Answers, Flaw
from ..running.pytest_plugin import Ran

_MAX_SYMPTOMS = 3


def by_symptom(
    failing: Sequence[Ran], ran: Sequence[Ran], right: Mapping[str, Answers]
) -> tuple[Diagnosis, ...]:
    """Return at most three symptoms of failed tests, the most frequent first.

    failing: the results of the failed tests to describe
    ran:     the results of all tests
    right:   the solution's answers in each test
    """
    symptoms = Counter(_symptom(one, right.get(one.report.name, ())) for one in failing)
    total = sum(r.report.verdict.failed for r in ran)
    if None in symptoms:  # lost precision does not explain the unclear failures
        del symptoms["digits"]
    for kind in ("zeros", "constant"):  # require at least half of the failed tests
        if 2 * symptoms[kind] < total:
            del symptoms[kind]
    found = []
    for symptom, count in symptoms.most_common():
        if symptom is not None:
            title, hint, _ = FINDINGS[symptom_name(symptom)]
            found.append(Diagnosis(symptom_name(symptom), title, hint, count, total))
    return tuple(found[:_MAX_SYMPTOMS])


_BY_FLAW = {
    Flaw.DRAWN: "drawn",
    Flaw.DEVICE: "device",
    Flaw.EFFECT: "touched",
    Flaw.DETACHED: "detached",
}


def _symptom(ran: Ran, right: Answers) -> str | None:
    """Return the symptom that a failed test shows, or None if there is no clear symptom."""
    reply, raised = ran.last_reply, ran.last_raised
    if ran.report.verdict.raised and raised is not None:
        is_syntax = "SyntaxError" in raised.bases
        return None if is_syntax else family(raised.type, raised.message)
    if not ran.report.verdict.rejects_answers:
        return None
    if ran.flaw in (Flaw.KIND, Flaw.VALUE, Flaw.GRADIENT):
        return _symptom_of_values(ran, right)
    if ran.flaw is Flaw.STATE:
        return _symptom_of_state(reply.mismatch) if reply is not None else None
    if ran.flaw is Flaw.REFUSAL:
        return "refuses otherwise" if raised is not None else "accepts"
    return _BY_FLAW.get(ran.flaw)


def _symptom_of_state(found: frames.StateMismatch | None) -> str | None:
    if found is None:
        return None
    if found.missing:
        return "names of state" if found.unexpected else "lacks"
    if found.unexpected:
        return "more"
    return "shapes of state" if found.shapes else None


def _symptom_of_values(ran: Ran, right: Answers) -> str | None:
    """Return the symptom of an answer with wrong values, type or gradients, or None if unclear."""
    index = len(ran.answers) - 1
    mine, other = ran.answers[index], right[index] if index < len(right) else None
    if not isinstance(mine, tuple) or not isinstance(other, tuple):
        return None
    try:
        pairs = [(a, b) for a, b, _ in leaves(read_answer(mine)[0], read_answer(other)[0])]
    except frames.BadFrame:
        return None
    kinds = [k for a, b in pairs if (k := _different_kind(a, b)) is not None]
    if ran.flaw is Flaw.KIND:
        return kinds[0] if kinds else None
    if kinds:
        return None
    if ran.flaw is Flaw.GRADIENT:
        return "gradient"
    if any(_differs_by_nan(a, b) for a, b in pairs):
        return "nan"
    if pairs and all(_is_constant(a) and not _is_constant(b) for a, b in pairs):
        return "constant" if any(a.any() for a, _ in pairs) else "zeros"
    return "digits" if pairs and all(_almost_equal(a, b) for a, b in pairs) else None


def _different_kind(a: Any, b: Any) -> str | None:
    if hasattr(b, "dtype") and hasattr(b, "shape"):
        if not hasattr(a, "dtype"):
            return "kind"
        if tuple(a.shape) != tuple(b.shape):
            return "shape"
        return None if str(a.dtype) == str(b.dtype) else "number type"
    return None if type(a) is type(b) else "kind"


def _differs_by_nan(a: Any, b: Any) -> bool:
    """Return True if `a` is NaN at some entries where `b` is not, and almost equal elsewhere."""
    if not _comparable(a, b):
        return False
    nan = torch.isnan(a) & ~torch.isnan(b)
    return bool(nan.any()) and _almost_equal(torch.where(nan, b, a), b)


def _is_constant(x: Any) -> bool:
    if not isinstance(x, torch.Tensor) or x.is_meta or not x.numel():
        return False
    return bool((x == x.flatten()[0]).all())


def _almost_equal(a: Any, b: Any) -> bool:
    return _comparable(a, b) and close(a, b, DIGITS)


def _comparable(a: Any, b: Any) -> bool:
    tensors = all(isinstance(x, torch.Tensor) and x.is_floating_point() for x in (a, b))
    return tensors and a.shape == b.shape and not (a.is_meta or b.is_meta)
