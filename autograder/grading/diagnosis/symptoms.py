"""What a failed test says by itself, where no mistake has a name.

Most wrong code of real people holds several mistakes at once, and together they answer what no
misconception of the bank answers. Some of it is plain all the same: in which number type an answer
comes, that an argument was changed, that a shape was taken for granted where the code stopped.
Such a name is true of every test that it explains, says nothing of the others, and costs what the
tests say.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import torch

from ...model.report.schema import Diagnosis
from ...model.report.verdicts import Verdict
from ...repair.edit_wording import DTYPES, MADE, SHAPES
from ...worker.protocol import frames
from ..disclosure.known_errors import family
from ..outcomes import Flaw
from ..running.pytest_plugin import Ran
from .argument_patterns import Asked, by_axes, by_sizes
from .equivalence import Answers
from .probes import read

# Misconceptions are Python files: none has such a name.
_NAME = "shows:{}"
_MOST = 3
_DIGITS = 2e-3  # half precision has about that


class _Words(NamedTuple):
    title: str
    hint: str


_SHOWS = {
    "sizes": _Words("Puts two things together whose sizes do not fit.", SHAPES),
    "axes": _Words(
        "Counts on another number of axes than there is.",
        "Which axes can stand before the last two? Count axes from the end.",
    ),
    "places": _Words(
        "Looks beyond the end of something.",
        "How long is it, and which place is asked for in the smallest and in the largest case?",
    ),
    "parts": _Words(
        "Takes something apart into more or fewer parts than it has.",
        "Print what stands to the right of the `=`: its shape, or how many values it holds.",
    ),
    "number types": _Words("Puts numbers of two types together.", DTYPES),
    "devices": _Words(
        "Puts tensors of two devices together.",
        MADE,
    ),
    "unknown names": _Words(
        "Asks for something by a name that it does not have.",
        "Look the name up in the library's documentation, or for where you define it.",
    ),
    "arguments": _Words(
        "Calls something with other arguments than it takes.",
        "Compare the call with the definition, argument by argument.",
    ),
    "numpy": _Words(
        "Leaves torch on the way.",
        "Which step needs NumPy or a plain number, and what does torch have for it?",
    ),
    "in place": _Words(
        "Writes into a tensor that is still needed as it was.",
        "What is written to, and who needs its old values?",
    ),
    "memory": _Words(
        "Relies on how a tensor lies in memory.",
        "Try it with an argument that was transposed before.",
    ),
    "stopped": _Words(
        "Stops with an error on arguments that are allowed.",
        "Call it yourself with the smallest arguments that the docstring allows.",
    ),
    "lacks": _Words(
        "Lacks parameters that the exercise names.",
        "Compare the names in your `state_dict()` with the docstring, one by one.",
    ),
    "names of state": _Words(
        "Names parameters in another way than the exercise.",
        "Compare the names in your `state_dict()` with the docstring, one by one.",
    ),
    "more": _Words(
        "Keeps more in its state than the exercise names.",
        "Print the keys of your `state_dict()`: which of them are not in the docstring, and why?",
    ),
    "shapes of state": _Words(
        "Gives parameters another shape than the exercise does.",
        "Compare the shapes in your `state_dict()` with the docstring, one by one.",
    ),
    "number type": _Words("Answers in another number type than is asked for.", DTYPES),
    "kind": _Words(
        "Gives back another kind of thing than is asked for.",
        "What does the docstring say comes back: a number, a tensor, several of them?",
    ),
    "shape": _Words("Gives back another shape than is asked for.", SHAPES),
    "device": _Words(
        "Answers on another device than the one its input is on.",
        MADE,
    ),
    "touched": _Words(
        "Changes something that is its caller's.",
        "Look for what is written to: arguments, settings, the random state.",
    ),
    "detached": _Words(
        "Cuts the way back to an input, so that no gradient reaches it.",
        "Which step makes a new tensor out of plain numbers, or is done without gradients?",
    ),
    "gradient": _Words(
        "Has the right values, and a wrong gradient.",
        "Which step is no plain function of the inputs to autograd?",
    ),
    "accepts": _Words(
        "Accepts arguments that it should refuse.",
        "Which arguments does the docstring call an error? Try each of them.",
    ),
    "refuses otherwise": _Words(
        "Refuses bad arguments in another way than is asked for.",
        "Which error is asked for, and what must its message contain?",
    ),
    "drawn": _Words(
        "Draws something in another way than is asked for.",
        "Go through the docstring sentence by sentence, beside your picture.",
    ),
    "digits": _Words(
        "Comes close, and loses the last digits.",
        "Which step makes numbers of a smaller type, or adds something small?",
    ),
    "nan": _Words(
        "Gives NaN where there are numbers to give.",
        "Which step divides by zero, or takes infinity from infinity?",
    ),
    "zeros": _Words(
        "Gives zeros alone, where there are other numbers to give.",
        "Where is the result filled in, and does that step run? Print it just before it returns.",
    ),
    "constant": _Words(
        "Gives one and the same number everywhere, where numbers differ.",
        "Which step makes all of them alike? Print the result after each step.",
    ),
}


def by_symptom(
    failing: Sequence[Ran],
    ran: Sequence[Ran],
    right: Mapping[str, Answers],
    asks: Mapping[str, Asked],
) -> tuple[Diagnosis, ...]:
    """What failed tests show by themselves, the most frequent first.

    ran: all tests that were run. right: what right code answers in each. asks: what each asks
    """
    shows: dict[str | None, list[str]] = {}
    for one in failing:
        shown = _shown(one, right.get(one.report.name, ()))
        shows.setdefault(shown, []).append(one.report.name)
    of = sum(r.report.verdict.failed for r in ran)
    if None in shows:  # what is close in some tests and not in others is no matter of digits
        shows[None] += shows.pop("digits", [])
    for kind in ("zeros", "constant"):  # a few such answers can have many reasons
        if 2 * len(shows.get(kind, ())) < of:
            shows.setdefault(None, []).extend(shows.pop(kind, ()))
    told = sorted((s for s in shows if s is not None), key=lambda s: -len(shows[s]))

    def where(kind: str, tests: list[str], others: Iterable[str]) -> str:
        tell = by_sizes if kind == "sizes" else by_axes
        return tell(*([asks[t] for t in some if t in asks] for some in (tests, others)))

    found = []
    for kind in told[:_MOST]:
        tests = shows[kind]
        title, hint = _SHOWS[kind]
        place = where(kind, tests, (r.report.name for r in ran if r.report.name not in tests))
        title = f"{title.removesuffix('.')}, {place}." if place else title
        found.append(Diagnosis(_NAME.format(kind), title, hint, len(tests), of))
    rest = shows.get(None, [])
    passed = [r.report.name for r in ran if not r.report.verdict.failed]
    if not found and (place := where("", rest, passed)):
        title = f"Gives other values {place}, and nowhere else."
        found.append(Diagnosis(_NAME.format("other values"), title, SHAPES, len(rest), of))
    return tuple(found)


_BY_FLAW = {Flaw.DEVICE: "device", Flaw.EFFECT: "touched", Flaw.DETACHED: "detached"}


def _shown(ran: Ran, right: Answers) -> str | None:
    """What one failed test shows, if it shows anything by itself."""
    last = ran.answers[-1] if ran.answers else None
    reply = last[0] if isinstance(last, tuple) else None
    if ran.report.verdict is Verdict.CRASHED:
        raised = reply.raised if reply else None
        if raised is None or "SyntaxError" in raised.bases:
            return None
        return family(raised.type, raised.message)
    if ran.report.verdict is not Verdict.WRONG:
        return None
    if ran.flaw is Flaw.STATE:
        return _of_state(reply.mismatch) if reply else None
    if ran.flaw is Flaw.REFUSAL:
        return "refuses otherwise" if reply and reply.raised else "accepts"
    if ran.flaw is Flaw.DRAWN:
        return "drawn"
    if ran.flaw in (Flaw.KIND, Flaw.VALUE, Flaw.GRADIENT):
        return _of_numbers(ran, right)
    return _BY_FLAW.get(ran.flaw)


def _of_state(found: frames.StateMismatch | None) -> str | None:
    if found is None:
        return None
    if found.missing:
        return "names of state" if found.unexpected else "lacks"
    if found.unexpected:
        return "more"
    return "shapes of state" if found.shapes else None


def _of_numbers(ran: Ran, right: Answers) -> str | None:
    """What the last answer shows beside right code's."""
    index = len(ran.answers) - 1
    mine, other = ran.answers[index], right[index] if index < len(right) else None
    if not isinstance(mine, tuple) or not isinstance(other, tuple):
        return None
    try:
        pairs = list(_parts(read(mine)[0], read(other)[0]))
    except frames.BadFrame:
        return None
    kinds = [k for a, b in pairs if (k := _other_kind(a, b)) is not None]
    if ran.flaw is Flaw.KIND:
        return kinds[0] if kinds else None
    if kinds:
        return None
    if ran.flaw is Flaw.GRADIENT:
        return "gradient"
    if any(_only_nan(a, b) for a, b in pairs):
        return "nan"
    if pairs and all(_is_one_number(a) and not _is_one_number(b) for a, b in pairs):
        return "constant" if any(a.any() for a, _ in pairs) else "zeros"
    return "digits" if pairs and all(_near(a, b) for a, b in pairs) else None


def _parts(a: Any, b: Any) -> Iterator[tuple[Any, Any]]:
    if isinstance(a, (tuple, list)) and isinstance(b, (tuple, list)) and len(a) == len(b):
        for x, y in zip(a, b, strict=True):
            yield from _parts(x, y)
    else:
        yield a, b


def _other_kind(a: Any, b: Any) -> str | None:
    if hasattr(b, "dtype") and hasattr(b, "shape"):
        if not hasattr(a, "dtype"):
            return "kind"
        if tuple(a.shape) != tuple(b.shape):
            return "shape"
        return None if str(a.dtype) == str(b.dtype) else "number type"
    return None if type(a) is type(b) else "kind"


def _only_nan(a: Any, b: Any) -> bool:
    """Whether the numbers are right but for NaN where there are others."""
    if not _comparable(a, b):
        return False
    nan = torch.isnan(a) & ~torch.isnan(b)
    return bool(nan.any()) and _near(torch.where(nan, b, a), b)


def _is_one_number(x: Any) -> bool:
    """Whether all entries of a tensor are one number."""
    if not isinstance(x, torch.Tensor) or x.is_meta or not x.numel():
        return False
    return bool((x == x.flatten()[0]).all())


def _near(a: Any, b: Any) -> bool:
    """Whether two tensors are equal but for the last digits."""
    if not _comparable(a, b):
        return False
    wide, right = a.double(), b.double()
    finite = right[torch.isfinite(right)].abs()
    slack = _DIGITS * float(finite.max()) if finite.numel() else 0.0
    return torch.allclose(wide, right, rtol=_DIGITS, atol=slack, equal_nan=True)


def _comparable(a: Any, b: Any) -> bool:
    tensors = all(isinstance(x, torch.Tensor) and x.is_floating_point() for x in (a, b))
    return tensors and a.shape == b.shape and not (a.is_meta or b.is_meta)
