"""A check's result as lines of text: as wide as the terminal, with or without colour and links."""

from __future__ import annotations

import re
import textwrap
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import msgspec
from rich.console import Console
from rich.text import Text

from ..checks.results import CheckOutcome, CheckResult, ExerciseResult, Failure, unseen
from .hints import Hint
from .wording import (
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
_LINE = re.compile(r"\bline (\d+)")
_FILE = re.compile(r"[\w.-]+\.(?:py|ipynb|md)\b")
_STYLES = {"pass": "green", "fail": "red", "open": "dim", "waiting": "dim", "skipped": "dim"}
_MOST_LINES = 14
_BESIDE = 21  # columns of a table's line beside an exercise's name and how it stands
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
    if result.broken:
        yield from _broken(result, result.broken, look)
        return
    if not result.exercises:
        return
    yield from _table(result.exercises, look)
    if result.electives_counted is not None and any(e.elective for e in result.exercises):
        yield Text(f"  Of the electives, your best {result.electives_counted} count.")
    for reason in obstacles(result):
        yield from _wrapped(f"Not checked here: {reason}.", 2, look.width)
    failing = first_failure(result, focus)
    if failing and failing.first:
        yield from _failure(result, failing, failing.first, look)
    yield Text()
    for note in result.notes:
        yield from _wrapped(f"LOOK  {note}", 0, look.width)
    yield from (Text(t.plain, style="bold") for t in _wrapped(summary(result), 0, look.width))
    for number, (step, remark) in enumerate(next_steps(result, focus)):
        yield from _step(result, "" if number else "Next:", step, remark, look)


def _broken(of: CheckResult, failure: Failure, look: Look) -> Iterator[Text]:
    """Why the module cannot be imported, with the line and a caret."""
    for line in _wrapped(failure.message, 2, look.width):
        yield _linked(of, line)
    for code in failure.code.split("\n") if failure.code else ():
        yield Text(f"  {code}"[: look.width], style="cyan")


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
    stands = max(18, *(len(standing(e)) for e in exercises))
    if name + stands + _BESIDE > look.width:
        stands = 18
    narrow = name + stands + _BESIDE > look.width
    for e in exercises:
        line = Text("  ").append(f"{look.marks[e.state]} ", style=_STYLES[e.state])
        left = "" if e.state == "pass" else f"{points(e.points)} open"
        told = f"{e.name:{name}}  {standing(e):{stands}}  {left}".rstrip()
        if not narrow and len(told) + 4 <= look.width:
            yield line.append(told)
        else:
            yield line.append(e.name)
            said = f"{standing(e)}{f', {left}' if left else ''}"
            yield from _wrapped(said, 6, look.width)
        if look.checks:
            for check in _checks(e, look):
                first, *more = _wrapped(check.plain[2:], 6, look.width)
                yield Text("    ").append(check[:2]).append(first.plain[6:])
                yield from more


def _checks(result: ExerciseResult, look: Look) -> Iterator[Text]:
    """Each check by its name; those of several variants once."""
    kinds: Counter[tuple[str, str]] = Counter()
    untried = unseen(result.outcomes)
    for outcome in result.outcomes:
        kinds["open" if outcome.test in untried else outcome.state, outcome.claim] += 1
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
        for line in _wrapped(where(failure), 2, width):
            yield _linked(of, line)
    for fact in failure.facts:
        yield from _wrapped(fact, 4, width)
    if failure.output.strip():
        yield Text("  It printed:")
        yield from _wrapped(failure.output.rstrip(), 4, width)
    if result.uses:
        yield from _wrapped(inherits(result), 2, width)
    if len(result.outcomes) > 1 and not look.checks:
        marked = " · ".join(check.plain for check in _checks(result, look))
        untried = f"  ({look.marks['open']} not tried yet)" if unseen(result.outcomes) else ""
        yield from _wrapped(f"Its checks: {marked}{untried}", 2, width)


def _code(of: CheckResult, line: int, code: str, look: Look) -> Iterator[Text]:
    if line:
        yield _linked(of, Text(f"  at line {line} of {of.module}{':' if code else ''}"))
    if code:
        room = look.width - 6
        shown = code if len(code) <= room else code[: room - 3] + "..."
        yield Text(f"      {shown}", style="cyan")


def _linked(of: CheckResult, line: Text) -> Text:
    """The text, in which each `line 12` opens the module there if the terminal can."""
    for found in _LINE.finditer(line.plain):
        address = f"{_address(of, of.module)}#L{found[1]}"
        line.stylize(f"link {address}", *found.span())
    return line


def _address(of: CheckResult, name: str) -> str:
    return (Path(of.folder) / name).resolve().as_uri()


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


def _step(of: CheckResult, head: str, step: str, remark: str, look: Look) -> Iterator[Text]:
    """A step to take; the file that it names opens if the terminal can."""
    said = f"{step}  ({remark})" if remark else step
    file = _FILE.match(step)
    for number, line in enumerate(_wrapped(said, 6, look.width)):
        if not number:
            line = Text(f"{head:6}{line.plain[6:]}")
        if step.startswith("autograder "):
            left = len(step) if not number else 0
            line.stylize("cyan", 6, 6 + left)
        elif file and not number:
            line.stylize(f"link {_address(of, file[0])}", 6, 6 + len(file[0]))
        yield line
