"""Format a check's result as text that fits the terminal, with or without colour."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence

import msgspec
from rich.console import Console
from rich.text import Text

from ..checks.check_results import CheckResult, ExerciseResult, Failure
from .hints import Hint
from .terminal import writes_unicode
from .wording import (
    MARKS,
    PLAIN_MARKS,
    cause,
    first_failure,
    inherited,
    lines_to_check,
    next_steps,
    obstacles,
    points,
    status,
    summary,
)

MIN_WIDTH = 40
_STYLES = {"pass": "green", "fail": "red"}
_MAX_LINES = 14
_STATUS, _REST = 18, 22  # widths of a usual status, and of marks, spaces and points


class Layout(msgspec.Struct, frozen=True):
    """The capabilities of the terminal."""

    width: int = 80
    unicode: bool = True

    @property
    def marks(self) -> dict[str, str]:
        return MARKS if self.unicode else PLAIN_MARKS


def layout_of(console: Console) -> Layout:
    return Layout(max(MIN_WIDTH, console.width), writes_unicode(console))


def plain(result: CheckResult) -> str:
    return "\n".join(line.plain.rstrip() for line in lines(result))


def show(console: Console, result: CheckResult) -> None:
    for line in lines(result, layout_of(console)):
        console.print(line, soft_wrap=True)


def hint_lines(hint: Hint, width: int = 80) -> Iterator[Text]:
    yield Text(f"{hint.exercise}, hint {hint.number} of {hint.total}", style="bold")
    yield from wrapped(hint.text, 2, width)


def lines(result: CheckResult, layout: Layout = Layout()) -> Iterator[Text]:  # noqa: B008  # it is frozen
    width = layout.width
    yield Text(result.heading, style="bold")
    if result.problem:
        yield from wrapped(result.problem, 2, width)
        return
    if result.broken:
        yield from wrapped(result.broken.message, 2, width)
        for code in result.broken.code.split("\n") if result.broken.code else ():
            yield Text(f"  {code}"[:width], style="cyan")
        return
    yield from table(result.exercises, layout)
    if result.electives_counted is not None and any(e.elective for e in result.exercises):
        yield Text(f"  Your best {result.electives_counted} electives count.")
    for reason in obstacles(result):
        yield from wrapped(f"Not checked here: {reason}.", 2, width)
    failing = first_failure(result)
    if failing and failing.first and failing.first.failure:
        yield Text()
        yield from wrapped(f"{failing.name}: {failing.first.claim}", 0, width, "bold")
        yield from _explanation(result, failing, failing.first.failure, layout)
    yield Text()
    for note in result.notes:
        yield from wrapped(f"LOOK  {note}", 0, width)
    yield from wrapped(summary(result), 0, width, "bold")
    for number, (step, remark) in enumerate(next_steps(result)):
        first, *rest = wrapped(f"{step}  ({remark})" if remark else step, 6, width)
        yield Text("      " if number else "Next: ").append(first.plain[6:], style="cyan")
        yield from rest


def table(exercises: Sequence[ExerciseResult], layout: Layout) -> Iterator[Text]:
    """Yield a line for each exercise, or two if the line is too long for the terminal."""
    names = max((len(e.name) for e in exercises), default=0)
    statuses = max(_STATUS, *(len(status(e)) for e in exercises))
    if names + statuses + _REST > layout.width:
        statuses = _STATUS
    for e in exercises:
        to_go = "" if e.state == "pass" else f"{points(e.points)} to go"
        line = Text("  ").append(f"{layout.marks[e.state]} ", style=_STYLES.get(e.state, "dim"))
        row = f"{e.name:{names}}  {status(e):{statuses}}  {to_go}".rstrip()
        if len(row) + 4 <= layout.width:
            yield line.append(row)
        else:
            yield line.append(e.name)
            yield from wrapped(", ".join(filter(None, (status(e), to_go))), 6, layout.width)


def _checks(result: ExerciseResult, layout: Layout) -> Iterator[str]:
    """Yield the name of each check, with the number of its variants."""
    counts = Counter((layout.marks[o.state], o.claim) for o in result.outcomes)
    for (mark, claim), times in counts.items():
        yield f"{mark} {claim}{f' ({times} times)' if times > 1 else ''}"


def _explanation(
    result: CheckResult, exercise: ExerciseResult, failure: Failure, layout: Layout
) -> Iterator[Text]:
    width = layout.width
    yield from wrapped(cause(failure, exercise.name, result.module), 2, width)
    code = failure.code
    if failure.line:
        yield Text(f"  at line {failure.line} of {result.module}{':' if code else ''}")
    if code:
        cut = code if len(code) <= width - 6 else f"{code[: width - 9]}..."
        yield Text(f"      {cut}", style="cyan")
    if failure.places:
        yield from wrapped(lines_to_check(failure), 2, width)
    for fact in failure.facts:
        yield from wrapped(fact, 4, width)
    if failure.output.strip():
        yield Text("  It printed:")
        yield from wrapped(failure.output.rstrip(), 4, width)
    if exercise.uses:
        yield from wrapped(inherited(exercise), 2, width)
    if len(exercise.outcomes) > 1:
        yield from wrapped(f"Its checks: {' · '.join(_checks(exercise, layout))}", 2, width)


def wrapped(text: str, indent: int, width: int, style: str = "") -> Iterator[Text]:
    """Wrap text between words; keep its line breaks and replace control characters."""
    safe = "".join(
        c if c in "\n\t" or c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text
    )
    out: list[str] = []
    for line in safe.split("\n"):
        out += textwrap.wrap(line, width - indent, replace_whitespace=False) or [""]
    if len(out) > _MAX_LINES + 1:
        out[_MAX_LINES:] = [f"… and {len(out) - _MAX_LINES} more lines"]
    yield from (Text(" " * indent + line, style=style) for line in out)
