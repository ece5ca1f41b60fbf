"""A check's result as lines of text: as wide as the terminal, with or without colour and links."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import msgspec
from rich.console import Console
from rich.text import Text

from .hints import Hint
from .results import CheckOutcome, CheckResult, ExerciseResult
from .words import (
    MARKS,
    PLAIN_MARKS,
    cause,
    first_failure,
    inherits,
    next_steps,
    obstacles,
    points,
    standing,
    summary,
    where,
)

NARROWEST = 40
_STYLES = {"pass": "green", "fail": "red", "open": "dim", "waiting": "dim", "skipped": "dim"}
_MOST_LINES = 14
_BAR = 24


class Look(msgspec.Struct, frozen=True):
    """How it may look. `checks`: with every check of every exercise by its name."""

    width: int = 80
    unicode: bool = True
    checks: bool = False

    @property
    def marks(self) -> dict[str, str]:
        return MARKS if self.unicode else PLAIN_MARKS


def look_of(console: Console, checks: bool = False) -> Look:
    return Look(max(NARROWEST, console.width), writes_unicode(console), checks)


def plain(result: CheckResult) -> str:
    return "\n".join(line.plain.rstrip() for line in lines(result))


def show(console: Console, result: CheckResult) -> None:
    for line in lines(result, look_of(console)):
        console.print(line, soft_wrap=True)


def writes_unicode(console: Console) -> bool:
    return (console.encoding or "").lower().replace("-", "").startswith("utf")


def hint_lines(hint: Hint, width: int = 80) -> Iterator[Text]:
    yield Text(f"{hint.exercise}, hint {hint.number} of {hint.total}", style="bold")
    yield from _wrapped(hint.text, 2, width)


def lines(result: CheckResult, look: Look = Look(), focus: str = "") -> Iterator[Text]:  # noqa: B008  # it is frozen
    yield Text(result.heading, style="bold")
    if result.problem:
        yield from _wrapped(result.problem, 2, look.width)
        return
    if not result.exercises:
        return
    yield from _table(result.exercises, look)
    if result.electives_counted is not None and any(e.elective for e in result.exercises):
        yield Text(f"  Of the electives, your best {result.electives_counted} count.")
    for reason in obstacles(result):
        yield from _wrapped(f"Not checked here: {reason}.", 2, look.width)
    if result.broken:
        failure = result.broken
        yield Text()
        yield from _wrapped(cause(failure, "", result.module), 2, look.width)
        yield from _code(result, failure.line, failure.code, look)
    failing = first_failure(result, focus)
    if failing and failing.first:
        yield from _failure(result, failing, failing.first, look)
    yield Text()
    yield from (Text(t.plain, style="bold") for t in _wrapped(summary(result), 0, look.width))
    for number, (step, remark) in enumerate(next_steps(result, focus)):
        yield _line(f"{'Next:' if not number else '':6}", step, f"  ({remark})" if remark else "")


def progress_bar(result: CheckResult, look: Look) -> Text:
    """How many exercises pass, as a bar."""
    done, total = sum(e.state == "pass" for e in result.exercises), len(result.exercises)
    width = min(_BAR, look.width - 16)
    filled = width * done // total if total else 0
    full, empty = ("█", "░") if look.unicode else ("#", ".")
    bar = Text(f"{full * filled}{empty * (width - filled)}", style="green")
    return bar.append(f"  {done} of {total}", style="default")


def _table(exercises: tuple[ExerciseResult, ...], look: Look) -> Iterator[Text]:
    name = max((len(e.name) for e in exercises), default=0)
    wide = look.width >= name + 40
    for e in exercises:
        line = Text("  ").append(f"{look.marks[e.state]} ", style=_STYLES[e.state])
        line.append(e.name.ljust(name + 2) if wide else e.name)
        left = "" if e.state == "pass" else f"{points(e.points)} open"
        if wide:
            line.append(f"{standing(e)}  ".ljust(20)).append(left)
            line.rstrip()
            yield line
        else:
            yield line
            said = f"{standing(e)}{f', {left}' if left else ''}"
            yield from _wrapped(said, 6, look.width)
        if look.checks:
            yield from (Text("    ").append(check) for check in _checks(e, look))


def _checks(result: ExerciseResult, look: Look) -> Iterator[Text]:
    """Each check by its name; those of several variants once."""
    kinds: Counter[tuple[str, str]] = Counter()
    for outcome in result.outcomes:
        state = "skipped" if outcome.skipped else "fail" if outcome.failure else "pass"
        kinds[state, outcome.claim] += 1
    for (state, claim), times in kinds.items():
        line = Text(f"{look.marks[state]} ", style=_STYLES[state])
        yield line.append(f"{claim}{f' ({times} times)' if times > 1 else ''}", style="default")


def _failure(
    of: CheckResult, result: ExerciseResult, outcome: CheckOutcome, look: Look
) -> Iterator[Text]:
    failure, width = outcome.failure, look.width
    assert failure is not None
    yield Text()
    for line in _wrapped(f"{result.name}: {outcome.claim}", 0, width):
        yield Text(line.plain, style="bold")
    yield from _wrapped(cause(failure, result.name, of.module), 2, width)
    yield from _code(of, failure.line, failure.code, look)
    if failure.places:
        yield from _wrapped(where(failure), 2, width)
    for fact in failure.facts:
        yield from _wrapped(fact, 4, width)
    if failure.output.strip():
        yield Text("  It printed:")
        yield from _wrapped(failure.output.rstrip(), 4, width)
    if result.uses:
        yield from _wrapped(inherits(result), 2, width)
    if len(result.outcomes) > 1 and not look.checks:
        marked = " · ".join(check.plain for check in _checks(result, look))
        yield from _wrapped(f"Its checks: {marked}", 2, width)


def _code(of: CheckResult, line: int, code: str, look: Look) -> Iterator[Text]:
    if line:
        place = Text(f"line {line} of {of.module}")
        place.stylize(f"link {(Path(of.folder) / of.module).resolve().as_uri()}#L{line}")
        yield Text("  at ").append(place).append(":" if code else "")
    if code:
        room = look.width - 6
        shown = code if len(code) <= room else code[: room - 3] + "..."
        yield Text(f"      {shown}", style="cyan")


def _wrapped(text: str, indent: int, width: int) -> Iterator[Text]:
    """The text, wrapped by words; its own line breaks and indents are kept."""
    space = " " * indent
    out: list[str] = []
    for line in _printable(text).split("\n"):
        out += textwrap.wrap(
            line, width - indent, drop_whitespace=True, replace_whitespace=False
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
