"""Describe the lines of a mistake in a sentence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..model.report.findings import MAKES, SHOWN, question
from ..model.report.schema import Suspect


def location_sentence(suspects: Iterable[Suspect], asking: bool = True) -> str:
    """Return a sentence that locates the mistake without revealing the fix, or "".

    asking: add a question that leads to the fix.
    """
    places = list(suspects)
    if not places:
        return ""
    observed = list(_observed(places))
    places = [p for p in places if p.kind not in (*_STOPPED, MAKES, SHOWN)]
    return " ".join([*observed, _repairable(places, asking)] if places else observed)


def _repairable(places: list[Suspect], asking: bool) -> str:
    """Describe the lines for which a fix was found."""
    lines = [
        f"line {p.line} of {p.file}{f' ({question(p.kind)})' if asking else ''}" for p in places
    ]
    if places[0].explains:
        counts = (f"{t} explains {p.explains}" for t, p in zip(lines, places, strict=True))
        return f"Of the failed tests, {', and '.join(counts)}."
    if not all(p.alone for p in places):
        if len(lines) == 1:
            return f"One of the mistakes is in {lines[0]}."
        return f"Together, these lines explain all failed tests: {' and '.join(lines)}."
    if len(lines) == 1:
        return f"One line explains all failed tests: {lines[0]}."
    return f"One of these lines explains all failed tests: {', or '.join(lines)}."


def _observed(places: list[Suspect]) -> Iterator[str]:
    """Describe the lines for which no fix was found."""

    def lines(some: list[Suspect]) -> str:
        return " and ".join(f"line {p.line} of {p.file}" for p in some)

    if stopped := [p for p in places if p.kind in _STOPPED]:
        count = sum(p.explains for p in stopped)
        much = f"{count} of the failed tests stop at" if count else ""
        yield f"{much or f'The code {_STOPPED[stopped[0].kind]}'} {lines(stopped)}."
    if made := [p for p in places if p.kind == MAKES]:
        yield f"The wrong values first appear in {lines(made)}."
    if shown := [p for p in places if p.kind == SHOWN]:
        yield f"The mistake first shows at {lines(shown)}."


_STOPPED = {
    "crashed": "stops at",
    "forbidden": "makes a forbidden call in",
    "timeout": "takes too long at",
    "limit": "exceeds a limit at",
}
