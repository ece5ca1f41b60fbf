"""A check's result as lines of text: for a terminal of 80 columns, with or without colour."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from rich.console import Console
from rich.text import Text

from .hints import Hint
from .results import CheckOutcome, CheckResult, ExerciseResult
from .words import (
    MARKS,
    PLAIN_MARKS,
    cause,
    first_failure,
    next_steps,
    obstacles,
    points,
    standing,
    summary,
    where,
)

WIDTH = 80
_STYLES = {"pass": "green", "fail": "red", "open": "dim", "waiting": "dim", "skipped": "dim"}
_MOST_LINES = 14


def plain(result: CheckResult) -> str:
    return "\n".join(line.plain.rstrip() for line in lines(result))


def show(console: Console, result: CheckResult) -> None:
    for line in lines(result, unicode=writes_unicode(console)):
        console.print(line, soft_wrap=True)


def writes_unicode(console: Console) -> bool:
    return (console.encoding or "").lower().replace("-", "").startswith("utf")


def hint_lines(hint: Hint) -> Iterator[Text]:
    yield Text(f"{hint.exercise}, hint {hint.number} of {hint.total}", style="bold")
    yield from _wrapped(hint.text, 2)


def lines(result: CheckResult, unicode: bool = True, focus: str = "") -> Iterator[Text]:
    yield Text(result.heading, style="bold")
    if result.problem:
        yield from _wrapped(result.problem, 2)
        return
    if not result.exercises:
        return
    yield from _table(result.exercises, MARKS if unicode else PLAIN_MARKS)
    if result.electives_counted is not None and any(e.elective for e in result.exercises):
        yield Text(f"  Of the electives, your best {result.electives_counted} count.")
    for reason in obstacles(result):
        yield from _wrapped(f"Not checked here: {reason}.", 2)
    if result.broken:
        failure = result.broken
        yield Text()
        yield from _wrapped(cause(failure, "", result.module), 2)
        yield from _code(result.module, failure.line, failure.code)
    failing = first_failure(result, focus)
    if failing and failing.first:
        yield from _failure(failing, failing.first, result.module)
    yield Text()
    yield from (Text(t.plain, style="bold") for t in _wrapped(summary(result), 0))
    for number, (step, remark) in enumerate(next_steps(result, focus)):
        yield _line(f"{'Next:' if not number else '':6}", step, f"  ({remark})" if remark else "")


def _table(exercises: tuple[ExerciseResult, ...], marks: dict[str, str]) -> Iterator[Text]:
    name = max((len(e.name) for e in exercises), default=0)
    for e in exercises:
        line = Text("  ").append(f"{marks[e.state]} ", style=_STYLES[e.state])
        line.append(e.name.ljust(name + 2))
        line.append(standing(e).ljust(20))
        line.append("" if e.state == "pass" else f"{points(e.points)} open")
        line.rstrip()
        yield line


def _failure(result: ExerciseResult, outcome: CheckOutcome, module: str) -> Iterator[Text]:
    failure = outcome.failure
    assert failure is not None
    yield Text()
    yield from (Text(t.plain, style="bold") for t in _wrapped(f"{result.name}: {outcome.claim}", 0))
    yield from _wrapped(cause(failure, result.name, module), 2)
    yield from _code(module, failure.line, failure.code)
    if failure.places:
        yield from _wrapped(where(failure), 2)
    for fact in failure.facts:
        yield from _wrapped(fact, 4)
    if failure.output.strip():
        yield Text("  It printed:")
        yield from _wrapped(failure.output.rstrip(), 4)


def _code(module: str, line: int, code: str) -> Iterator[Text]:
    if line:
        yield Text(f"  at line {line} of {module}{':' if code else ''}")
    if code:
        shown = code if len(code) <= WIDTH - 6 else code[: WIDTH - 9] + "..."
        yield Text(f"      {shown}", style="cyan")


def _wrapped(text: str, indent: int) -> Iterator[Text]:
    """The text at 80 columns; its own line breaks and indents are kept."""
    space = " " * indent
    out: list[str] = []
    for line in _printable(text).split("\n"):
        out += textwrap.wrap(
            line, WIDTH - indent, drop_whitespace=True, replace_whitespace=False
        ) or [""]
    for number, line in enumerate(out):
        if number == _MOST_LINES and len(out) > _MOST_LINES + 1:
            yield Text(f"{space}… and {len(out) - number} more lines")
            return
        yield Text(space + line)


def _printable(text: str) -> str:
    """Without the control characters by which a print could move the cursor."""
    return "".join(
        c if c in "\n\t" or c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text
    )


def _line(head: str, step: str, remark: str) -> Text:
    line = Text(head)
    line.append(step, style="cyan" if step.startswith("autograder ") else "")
    return line.append(remark)
