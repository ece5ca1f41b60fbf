"""Format results and progress as text for a terminal, with or without colour."""

import contextlib
import datetime as dt
import sys
import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
from rich.console import Console
from rich.text import Text

from ...model.errors import KitError
from ...model.message_text import best_electives, replaced
from ...terminal.console import Terminal
from ..checks.check_results import CheckResult, ExerciseResult, Failure
from ..folder.lessons import Hint, load_state
from ..folder.source import fingerprints
from ..folder.week import WeekFolder
from . import wording

MIN_WIDTH = 40
_STYLES = {"pass": "green", "fail": "red"}
_MAX_LINES = 14
_BAR = 20  # width of a progress bar
REMINDER = "These are the public checks; hidden tests and your written answers decide the score."
_STATUS, _REST = 18, 22  # widths of a typical status, and of marks, spaces and points together


def console(*, stderr: bool = False) -> Console:
    """Return a console on standard output or error that replaces characters it cannot encode."""
    stream: Any = sys.stderr if stderr else sys.stdout
    with contextlib.suppress(AttributeError, ValueError):
        stream.reconfigure(errors="replace")
    return Terminal(highlight=False, soft_wrap=True, stderr=stderr)


class Layout(msgspec.Struct, frozen=True):
    """The capabilities of the terminal."""

    width: int = 80
    unicode: bool = True

    @property
    def marks(self) -> dict[str, str]:
        return wording.MARKS if self.unicode else wording.PLAIN_MARKS


def layout_of(out: Console) -> Layout:
    return Layout(max(MIN_WIDTH, out.width), not out.options.ascii_only)


def plain(result: CheckResult) -> str:
    return "\n".join(line.plain.rstrip() for line in lines(result))


def show(out: Console, result: CheckResult) -> None:
    out.print(*lines(result, layout_of(out)), sep="\n")


def hint_lines(hint: Hint, width: int = 80) -> Iterator[Text]:
    yield Text(f"{hint.exercise}, hint {hint.number} of {hint.total}", style="bold")
    yield from wrapped(hint.text, 2, width)


def lines(result: CheckResult, layout: Layout = Layout()) -> Iterator[Text]:  # noqa: B008  # it is frozen
    width = layout.width
    yield Text(result.folder.heading, style="bold")
    if result.broken:
        yield from wrapped(result.broken.message, 2, width)
        for code in result.broken.code.split("\n") if result.broken.code else ():
            yield Text(f"  {code}"[:width], style="cyan")
        return
    yield from table(result.exercises, layout)
    counted = result.folder.week.electives_counted
    if counted is not None and any(e.elective for e in result.exercises):
        yield Text(f"  Your {best_electives(counted)}.")
    for reason in wording.obstacles(result):
        yield from wrapped(f"Not checked here: {reason}.", 2, width)
    failing = wording.first_failure(result)
    if failing and failing.first and failing.first.failure:
        yield Text()
        yield from wrapped(f"{failing.name}: {failing.first.claim}", 0, width, "bold")
        yield from _explanation(result, failing, failing.first.failure, layout)
    yield Text()
    for note in result.notes:
        yield from wrapped(f"LOOK  {note}", 0, width)
    yield from wrapped(wording.summary(result), 0, width, "bold")
    for number, (step, remark) in enumerate(wording.next_steps(result)):
        first, *rest = wrapped(f"{step}  ({remark})" if remark else step, 6, width)
        yield Text("      " if number else "Next: ").append(first.plain[6:], style="cyan")
        yield from rest


def table(exercises: Sequence[ExerciseResult], layout: Layout) -> Iterator[Text]:
    """Yield a line for each exercise, or two if the line is too long for the terminal."""
    names = max((len(e.name) for e in exercises), default=0)
    statuses = max(_STATUS, *(len(wording.status(e)) for e in exercises))
    if names + statuses + _REST > layout.width:
        statuses = _STATUS
    for e in exercises:
        to_go = "" if e.state == "pass" else f"{wording.points(e.points)} to go"
        line = Text("  ").append(f"{layout.marks[e.state]} ", style=_STYLES.get(e.state, "dim"))
        row = f"{e.name:{names}}  {wording.status(e):{statuses}}  {to_go}".rstrip()
        if len(row) + 4 <= layout.width:
            yield line.append(row)
        else:
            yield line.append(e.name)
            yield from wrapped(", ".join(filter(None, (wording.status(e), to_go))), 6, layout.width)


def _checks(result: ExerciseResult, layout: Layout) -> Iterator[str]:
    """Yield each distinct mark and claim, with the number of checks that share them."""
    counts = Counter((layout.marks[o.state], o.claim) for o in result.outcomes)
    for (mark, claim), times in counts.items():
        yield f"{mark} {claim}{f' ({times} times)' if times > 1 else ''}"


def _explanation(
    result: CheckResult, exercise: ExerciseResult, failure: Failure, layout: Layout
) -> Iterator[Text]:
    width = layout.width
    yield from wrapped(wording.cause(failure, exercise.name, result.module), 2, width)
    code = failure.code
    if failure.line:
        yield Text(f"  at line {failure.line} of {result.module}{':' if code else ''}")
    if code:
        cut = code if len(code) <= width - 6 else f"{code[: width - 9]}..."
        yield Text(f"      {cut}", style="cyan")
    if failure.places:
        yield from wrapped(wording.lines_to_check(failure), 2, width)
    for fact in failure.facts:
        yield from wrapped(fact, 4, width)
    if failure.output.strip():
        yield Text("  It printed:")
        yield from wrapped(failure.output.rstrip(), 4, width)
    if exercise.uses:
        yield from wrapped(wording.inherited(exercise), 2, width)
    if len(exercise.outcomes) > 1:
        yield from wrapped(f"Its checks: {' · '.join(_checks(exercise, layout))}", 2, width)


def wrapped(text: str, indent: int, width: int, style: str = "") -> Iterator[Text]:
    """Wrap and truncate text; keep its line breaks, and replace control characters."""
    out: list[str] = []
    for line in replaced(text).split("\n"):
        out += textwrap.wrap(line, width - indent, replace_whitespace=False) or [""]
    if len(out) > _MAX_LINES + 1:
        out[_MAX_LINES:] = [f"… and {len(out) - _MAX_LINES} more lines"]
    yield from (Text(" " * indent + line, style=style) for line in out)


class WeekProgress(msgspec.Struct, frozen=True):
    """A week and the state of each exercise after its last check."""

    heading: str
    due: dt.datetime
    exercises: tuple[ExerciseResult, ...]

    @property
    def done(self) -> float:
        return sum(e.points for e in self.exercises if e.state == "pass")

    @property
    def total(self) -> float:
        return sum(e.points for e in self.exercises)


def week_progress(folder: WeekFolder) -> WeekProgress:
    """Return a week's progress according to the stored results of the last checks."""
    checked = load_state(folder.memory).checked
    try:
        source = folder.source()
    except KitError:
        source = ""
    now, stub = (fingerprints(text, folder.names) for text in (source, folder.week.stub))
    found = []
    for e in folder.week.exercises:
        last = checked.get(e.name)
        result = ExerciseResult(e.name, e.points, "changed" if last else "unknown", 0, 0)
        if last and last.fingerprint == now.get(e.name):
            result = ExerciseResult(e.name, e.points, last.state, last.passed, last.total)
        elif e.name in now and now[e.name] == stub.get(e.name):
            result = ExerciseResult(e.name, e.points, "open", 0, 0)
        found.append(result)
    return WeekProgress(folder.heading, folder.week.due, tuple(found))


def next_to_do(folder: WeekFolder) -> str:
    """Return the first failing exercise, else the first that has not passed, else the first."""
    exercises = week_progress(folder).exercises
    order = {"fail": 0, "pass": 2}
    return min(exercises, key=lambda e: order.get(e.state, 1)).name


def progress_lines(weeks: list[WeekProgress], layout: Layout = Layout()) -> Iterator[Text]:  # noqa: B008  # it is frozen
    """Format a bar for each week and a line for each exercise."""
    full, empty = ("█", "░") if layout.unicode else ("#", ".")
    for week in weeks:
        yield Text(week.heading, style="bold")
        filled = int(_BAR * week.done / week.total) if week.total else 0
        bar = full * filled + empty * (_BAR - filled)
        passed = f"{week.done:g} of {wording.points(week.total)} pass public checks"
        due = f" · due {week.due:%d %b %H:%M}" if week.done < week.total else ""
        yield from wrapped(f"{bar}  {passed}{due}", 2, layout.width)
        yield from table(week.exercises, layout)
        yield Text()
    yield from wrapped(REMINDER, 0, layout.width)
