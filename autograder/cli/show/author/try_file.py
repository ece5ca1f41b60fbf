"""`autograder try` on a terminal: what a student would read who hands this in."""

from __future__ import annotations

import difflib
import re
import sys
from pathlib import Path
from typing import Any

import msgspec
from rich.console import Console

from ....batch.grade import grade_batch
from ....batch.intake import Submission, clean_name, read_submission
from ....feedback.html import feedback_page
from ....files.atomic import replace_file
from ....grading.warmup import rare_collection
from ....model.course.bank import Bank
from ....model.course.loader import Course, Week
from ....model.device_axes import axis
from ....model.errors import KitError
from ....model.report.schema import Diagnosis, ExerciseReport, SubmissionReport
from ....model.report.verdicts import Ending
from ....repair.edit_wording import question
from ....terminal.console import terminal

_MOST = 3  # messages of an exercise that are shown here; the page has all


_PLACE = re.compile(r"(?<= does not run: line )\d+(?=, )")  # in the module itself


class Tried(msgspec.Struct, frozen=True):
    """What is graded; `over`: how many lines of the solution stand before it, if any do."""

    submission: Submission
    own_code: bool = False
    over: int = 0


def run_try(
    course: Course, week: Week, what: str, *, show: bool, quick: bool, device: str, out: Path | None
) -> bool:
    """Grade it, print scores and what they say, write the page; return whether it was graded."""
    console, tried = terminal(), tried_of(course, week, what)
    with terminal(stderr=True).status(f"grading {tried.submission.name}"), rare_collection():
        report = grade_batch(
            course,
            week,
            [tried.submission],
            devices=axis(device),
            jobs=1,
            sandbox="none" if quick or tried.own_code else "auto",
        ).submissions[0]
    report = _recounted(report, tried.over)
    for line in tried.submission.notes:
        console.print(f"note: {line.text}", style="dim", soft_wrap=True)
    _print(console, week, report)
    path = out or course.state / "tried" / week.name / f"{_file_name(report.name)}.html"
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_file(path, feedback_page(report, week, course).encode())
    console.print(f"the page: {path}", soft_wrap=True)
    if show:
        import webbrowser

        webbrowser.open(path.resolve().as_uri())
    return report.verdict is Ending.GRADED


def tried_of(course: Course, week: Week, what: str) -> Tried:
    """What `what` names: standard input, one of the bank, or what somebody handed in.

    Python that has not all exercises is laid over the solution, like a misconception.
    """
    bank = Bank(course, week)
    if what == "-":
        return _laid(bank, "standard input", _typed())
    path = Path(what)
    if path.exists():
        if path.suffix == ".py" and path.is_file() and path.name != week.module:
            return _laid(bank, path.stem, path.read_text(encoding="utf-8-sig", errors="replace"))
        return Tried(read_submission(path, week, course.limits(week), path.stem))
    known = {m.name: m.source for m in bank.misconceptions}
    known |= {a.name: a.source for a in bank.alternatives} | {"solution": bank.solution}
    if what not in known:
        near = difflib.get_close_matches(what, known, n=3)
        guess = f"; did you mean {' or '.join(near)}?" if near else ""
        raise KitError(
            f"there is no file {what}, and no misconception of {week.name} has that name{guess}"
        )
    source = known[what]
    over = bank.solution.count("\n") + 2 if source != bank.solution else 0
    return Tried(Submission(what, {week.module: source.encode()}), own_code=True, over=over)


def _typed() -> str:
    """What stands on standard input; somebody who types it is told how to end."""
    if sys.stdin.isatty():
        key = "Ctrl-Z and Return" if sys.platform == "win32" else "Ctrl-D"
        print(f"type or paste Python, then {key} on a line of its own:", file=sys.stderr)
    return sys.stdin.read()


def _laid(bank: Bank, name: str, text: str) -> Tried:
    """A snippet over the solution, or a whole module as it is."""
    source, over = bank.laid(text.removeprefix("\ufeff"), name)
    return Tried(Submission(clean_name(name), {bank.week.module: source.encode()}), over=over)


def _print(console: Console, week: Week, report: SubmissionReport) -> None:
    console.print(f"{report.name}: {report.score:g} of {report.max_score:g}", style="bold")
    if report.message:
        console.print(report.message, soft_wrap=True, markup=False)
    width = max(len(e.name) for e in week.exercises)
    told: set[str] = set()
    for e in report.exercises if report.verdict is not Ending.REFUSED else ():
        console.print(f"  {e.name.ljust(width)}  {e.score:g} of {e.max_score:g}")
        if e.score < e.max_score:
            for line in _said(e, week, told):
                console.print(f"      {line}", soft_wrap=True)
    if report.attempts:
        console.print(f"looks like an attempt: {', '.join(report.attempts)}", soft_wrap=True)
    for failed in report.unexplained:
        console.print(f"the grading system failed beyond the verdicts: {failed}", soft_wrap=True)


def _said(e: ExerciseReport, week: Week, told: set[str]) -> list[str]:
    """What is told of an exercise; `told`: messages that need not be read again, by their words."""
    said = [f"{d.name}: {d.title}{_share(d)}" for d in e.explained]
    said += [f"inherits the mistake of {name}" for name in e.inherits]
    said += [f"{place.file}, line {place.line}: {question(place.kind)}" for place in e.suspects]
    failed = [t for t in e.tests if t.verdict.failed]
    shown = 0
    for test in failed:
        words = test.message.replace(f"`{e.name}`", "``")
        if shown == _MOST or words in told:
            continue
        shown += 1
        told.add(words)
        where = f" (line {test.line} of {week.module})" if test.line else ""
        said.append(f"{test.name}: {test.verdict}: {test.message}{where}")
    rest = len(failed) - shown
    more = f"{'and ' if shown else 'as above: '}{rest} {'more ' if shown else ''}tests"
    return [*said, more.removesuffix("s") if rest == 1 else more] if rest else said


def _share(named: Diagnosis) -> str:
    """How much a name explains, where that is known."""
    return f" (explains {named.explains} of {named.of})" if named.of else ""


def _recounted(report: SubmissionReport, over: int) -> SubmissionReport:
    """With lines as they are counted in what was given, not in the solution above it."""

    def recounted(thing: Any) -> Any:
        return msgspec.structs.replace(thing, line=thing.line - over * (thing.line > over))

    exercises = tuple(
        msgspec.structs.replace(
            e,
            tests=tuple(map(recounted, e.tests)),
            suspects=tuple(map(recounted, e.suspects)),
        )
        for e in report.exercises
    )
    said = _PLACE.sub(lambda line: str(int(line[0]) - over * (int(line[0]) > over)), report.message)
    return msgspec.structs.replace(report, exercises=exercises, message=said)


def _file_name(name: str) -> str:
    return "".join(c if c.isalnum() or c in "-_" else "-" for c in name)[:80]
