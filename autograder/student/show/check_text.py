"""Format a check's result as text that fits the terminal, with or without colour and links."""

from __future__ import annotations

import re
import textwrap
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import msgspec
from rich.console import Console
from rich.text import Text

from ..checks.check_results import (
    CheckOutcome,
    CheckResult,
    ExerciseResult,
    Failure,
    untried_checks,
)
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
_LINE = re.compile(r"\bline (\d+)")
_FILE = re.compile(r"[\w.-]+\.(?:py|ipynb|md)\b")
_STYLES = {"pass": "green", "fail": "red", "open": "dim", "waiting": "dim", "skipped": "dim"}
_MAX_LINES = 14
_STATUS, _REST = 18, 22  # columns of a usual status, and of marks, spaces and points


class Layout(msgspec.Struct, frozen=True):
    """The capabilities of the terminal. `checks`: list every check of every exercise by name."""

    width: int = 80
    unicode: bool = True
    checks: bool = False

    @property
    def marks(self) -> dict[str, str]:
        return MARKS if self.unicode else PLAIN_MARKS


def layout_of(console: Console, checks: bool = False) -> Layout:
    return Layout(max(MIN_WIDTH, console.width), writes_unicode(console), checks)


def plain(result: CheckResult) -> str:
    return "\n".join(line.plain.rstrip() for line in lines(result))


def show(console: Console, result: CheckResult) -> None:
    for line in lines(result, layout_of(console)):
        console.print(line, soft_wrap=True)


def hint_lines(hint: Hint, width: int = 80) -> Iterator[Text]:
    yield Text(hint.heading, style="bold")
    yield from wrapped(hint.text, 2, width)


def lines(result: CheckResult, layout: Layout = Layout(), focus: str = "") -> Iterator[Text]:  # noqa: B008  # it is frozen
    """Yield the lines of a result; `focus` names the exercise to explain."""
    width = layout.width
    yield Text(result.heading, style="bold")
    if result.problem:
        yield from wrapped(result.problem, 2, width)
        return
    if result.broken:
        for line in wrapped(result.broken.message, 2, width):
            yield _linked(result, line)
        for code in result.broken.code.split("\n") if result.broken.code else ():
            yield Text(f"  {code}"[:width], style="cyan")
        return
    if not result.exercises:
        return
    yield from _table(result.exercises, layout)
    if result.electives_counted is not None and any(e.elective for e in result.exercises):
        yield Text(f"  Your best {result.electives_counted} electives count.")
    for reason in obstacles(result):
        yield from wrapped(f"Not checked here: {reason}.", 2, width)
    failing = first_failure(result, focus)
    if failing and failing.first and failing.first.failure:
        yield from _explanation(result, failing, failing.first, failing.first.failure, layout)
    yield Text()
    for note in result.notes:
        yield from wrapped(f"LOOK  {note}", 0, width)
    yield from wrapped(summary(result), 0, width, "bold")
    for number, (step, remark) in enumerate(next_steps(result, focus)):
        yield from _step(result, "" if number else "Next:", step, remark, layout)


def _table(exercises: tuple[ExerciseResult, ...], layout: Layout) -> Iterator[Text]:
    names = max((len(e.name) for e in exercises), default=0)
    statuses = max(_STATUS, *(len(status(e)) for e in exercises))
    if names + statuses + _REST > layout.width:
        statuses = _STATUS
    for e in exercises:
        to_go = "" if e.state == "pass" else f"{points(e.points)} to go"
        line = Text("  ").append(f"{layout.marks[e.state]} ", style=_STYLES[e.state])
        row = f"{e.name:{names}}  {status(e):{statuses}}  {to_go}".rstrip()
        if len(row) + 4 <= layout.width:
            yield line.append(row)
        else:
            yield line.append(e.name)
            yield from wrapped(", ".join(filter(None, (status(e), to_go))), 6, layout.width)
        for check in _checks(e, layout) if layout.checks else ():
            first, *rest = wrapped(check.plain[2:], 6, layout.width)
            yield Text("    ").append(check[:2]).append(first.plain[6:])
            yield from rest


def _checks(result: ExerciseResult, layout: Layout) -> Iterator[Text]:
    """Yield each check by name; variants of one check are counted."""
    counts: Counter[tuple[str, str]] = Counter()
    untried = untried_checks(result.outcomes)
    for outcome in result.outcomes:
        counts["open" if outcome.test in untried else outcome.state, outcome.claim] += 1
    for (state, claim), times in counts.items():
        line = Text(f"{layout.marks[state]} ", style=_STYLES[state])
        yield line.append(f"{claim}{f' ({times} times)' if times > 1 else ''}", style="default")


def _explanation(
    result: CheckResult,
    exercise: ExerciseResult,
    outcome: CheckOutcome,
    failure: Failure,
    layout: Layout,
) -> Iterator[Text]:
    width = layout.width
    yield Text()
    yield from wrapped(f"{exercise.name}: {outcome.claim}", 0, width, "bold")
    yield from wrapped(cause(failure, exercise.name, result.module), 2, width)
    code = failure.code
    if failure.line:
        place = f"  at line {failure.line} of {result.module}{':' if code else ''}"
        yield _linked(result, Text(place))
    if code:
        cut = code if len(code) <= width - 6 else f"{code[: width - 9]}..."
        yield Text(f"      {cut}", style="cyan")
    if failure.places:
        for line in wrapped(lines_to_check(failure), 2, width):
            yield _linked(result, line)
    for fact in failure.facts:
        yield from wrapped(fact, 4, width)
    if failure.output.strip():
        yield Text("  It printed:")
        yield from wrapped(failure.output.rstrip(), 4, width)
    if exercise.uses:
        yield from wrapped(inherited(exercise), 2, width)
    if len(exercise.outcomes) > 1 and not layout.checks:
        checks = " · ".join(check.plain for check in _checks(exercise, layout))
        untried = untried_checks(exercise.outcomes)
        legend = f"  ({layout.marks['open']} not reached yet)" if untried else ""
        yield from wrapped(f"Its checks: {checks}{legend}", 2, width)


def _step(result: CheckResult, head: str, step: str, remark: str, layout: Layout) -> Iterator[Text]:
    """Yield a step to take; a file that it names becomes a link."""
    first, *rest = wrapped(f"{step}  ({remark})" if remark else step, 6, layout.width)
    line = Text(f"{head:6}{first.plain[6:]}")
    if step.startswith("autograder "):
        line.stylize("cyan", 6, 6 + len(step))
    elif file := _FILE.match(step):
        line.stylize(f"link {_uri(result, file[0])}", 6, 6 + len(file[0]))
    yield line
    yield from rest


def _linked(result: CheckResult, line: Text) -> Text:
    """Link each `line 12` to that line of the module, for terminals that support links."""
    for found in _LINE.finditer(line.plain):
        line.stylize(f"link {_uri(result, result.module)}#L{found[1]}", *found.span())
    return line


def _uri(result: CheckResult, name: str) -> str:
    return (Path(result.folder) / name).resolve().as_uri()


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
