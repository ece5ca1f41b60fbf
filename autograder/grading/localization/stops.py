"""Lines that failed tests speak of by themselves, where no change mends what fails.

Code that several mistakes are in has no change that mends all that fails. Where most of it stops
with an error all the same, the error's own line is worth telling: an axis that is not there, a
shape that is taken apart into more parts than it has, a name that nothing has, whatever Python
itself refuses. Other errors of libraries only show where two things met, of which one was made
wrong before; so they are told only where values first leave the right ones at that very line.
Parameters that nobody asked for have the line that makes them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping

from ...model.report.schema import Suspect, in_low_precision
from ...model.report.verdicts import Verdict
from ...repair import condition_of, maker_of
from ...repair.adapters import AXES, IN_PLACE, LENGTH, MEMORY, TYPES, WIDTH
from ...repair.edit_wording import MAKES
from ...worker.protocol import frames
from ..diagnosis.probes import Probe
from ..disclosure.known_errors import family
from ..disclosure.raising_lines import raising_lines
from ..outcomes import Flaw
from ..running.pytest_plugin import Ran
from .traced_runs import Place

_MOST = 2
_LEAST, _SHARE = 2, 0.15  # of what fails
_COUNTS = (3, 4, 2)
_SPEAKS = frozenset(
    {"axes", "parts", "numpy", "unknown names", "arguments", "in place", "memory"}
    | {"refused", "of Python"}
)
_SPEAKS_WITH_VALUES = frozenset({"sizes", "places", "number types", "stopped"})


def stops(
    source: str,
    module: str,
    failing: Collection[Ran],
    foreign: Collection[int],
    odd: Iterable[Place] = (),
) -> tuple[Suspect, ...]:
    """The lines at which most of the failed tests stop, or that make what they find there.

    foreign: lines that are not the exercise's. odd: where values first leave the right ones
    """
    values = {line for _, line in odd}
    seen: Counter[tuple[str, int, str]] = Counter()
    certain = set[int]()
    for ran in failing:
        for kind, line in _lines(ran, source):
            if line and line not in foreign:
                how = MAKES if kind == MAKES else Verdict.CRASHED.value
                seen[ran.exercise, line, how] += 1
                if (
                    kind in _SPEAKS
                    or kind == MAKES
                    or (kind in _SPEAKS_WITH_VALUES and line in values)
                ):
                    certain.add(line)
    least = max(_LEAST, _SHARE * len(failing)) if len(failing) > 1 else 1
    told = [key for key, n in seen.most_common() if key[1] in certain and n >= least]
    return tuple(
        _place(module, key, seen[key] if seen[key] < len(failing) else 0) for key in told[:_MOST]
    )


def _place(module: str, key: tuple[str, int, str], explains: int) -> Suspect:
    name, line, how = key
    return Suspect(module, line, name, how, not explains, explains)


def needed(
    failing: Collection[Ran], ran: int, probes: Mapping[str, Probe]
) -> Iterator[tuple[str, int]]:
    """The wrappers in which some of the failed tests may pass, each with a number of axes."""
    kinds = {kind for r in failing for kind in (_kind_of_error(r), *_unlike(r, probes))}
    if kinds & {"axes", "parts", "shape"}:
        yield from ((AXES, count) for count in _COUNTS)
    if kinds & {"sizes", "stopped", "parts", "shape"}:
        yield from ((kind, 0) for kind in (WIDTH, LENGTH))
    if kinds & {"number types", "type"} or any(in_low_precision(r.report.name) for r in failing):
        yield TYPES, 0
    if any(r.flaw is Flaw.EFFECT for r in failing):
        yield IN_PLACE, 0
    if "memory" in kinds or 2 * len(failing) <= ran:
        yield MEMORY, 0


def _unlike(ran: Ran, probes: Mapping[str, Probe]) -> Iterator[str]:
    """What of another kind an answer has than the right one: its shape, its type."""
    probe, index = probes.get(ran.report.name), len(ran.answers) - 1
    if ran.flaw is not Flaw.KIND or probe is None or not 0 <= index < len(probe.steps):
        return
    last = ran.answers[index]
    mine, right = last[0].value if isinstance(last, tuple) else None, probe.steps[index][1][0].value
    pairs = [(mine, right)]
    if isinstance(mine, frames.SeqV) and isinstance(right, frames.SeqV):
        pairs = list(zip(mine.items, right.items, strict=False))
    for a, b in pairs:
        if isinstance(a, (frames.TensorV, frames.ArrayV)) and isinstance(
            b, (frames.TensorV, frames.ArrayV)
        ):
            if a.shape != b.shape:
                yield "shape"
            if a.dtype != b.dtype:
                yield "type"


def _kind_of_error(ran: Ran) -> str:
    last = ran.answers[-1] if ran.answers else None
    raised = last[0].raised if isinstance(last, tuple) else None
    return family(raised.type, raised.message) if raised is not None else ""


def _lines(ran: Ran, source: str) -> Iterator[tuple[str, int]]:
    """What one failed test speaks of: of which kind it is, and the line."""
    last = ran.answers[-1] if ran.answers else None
    reply = last[0] if isinstance(last, tuple) else None
    if reply is None:
        return
    if reply.raised is not None and reply.raised.line not in raising_lines(
        tuple(source.split("\n"))
    ):
        return
    if reply.raised is not None and ran.report.verdict is Verdict.CRASHED:
        yield _of_error(reply.raised, source)
    elif reply.raised is not None and ran.flaw is Flaw.REFUSAL and reply.raised.line:
        yield "refused", reply.raised.line
    elif ran.flaw is Flaw.STATE and reply.mismatch is not None:
        for name in reply.mismatch.unexpected:
            yield MAKES, maker_of(source, ran.exercise, name)


def _of_error(raised: frames.Raised, source: str) -> tuple[str, int]:
    if not raised.line or "SyntaxError" in raised.bases:
        return "", 0
    condition = condition_of(source, raised.line)
    if condition:  # it raised the error itself
        return "refused", condition
    kind = family(raised.type, raised.message)
    if kind in _SPEAKS_WITH_VALUES and "RuntimeError" not in raised.bases:
        return "of Python", raised.line
    return "" if "device" in raised.message else kind, raised.line
