"""`autograder try`: show the feedback that a student would get."""

from __future__ import annotations

import difflib
import re
import sys
from pathlib import Path
from typing import Any

import msgspec
from rich.console import Console

from ...batch.grade import grade_batch
from ...batch.intake import Submission, clean_name, read_submission
from ...feedback.html import feedback_page
from ...grading.warmup import rare_collection
from ...model.course import Course, Week
from ...model.course.bank import Bank
from ...model.device_axes import axis
from ...model.errors import KitError
from ...model.report.findings import question
from ...model.report.schema import ExerciseReport, SubmissionReport
from ...model.report.verdicts import Ending
from ...terminal.console import terminal
from ..output import write_output

_MAX_MESSAGES = 3  # per exercise; the page shows all
_LINE = re.compile(r"(?<= does not run: line )\d+(?=, )")  # of the module itself


class Trial(msgspec.Struct, frozen=True):
    """A submission to grade; `offset`: number of lines of the solution in front of it."""

    submission: Submission
    own_code: bool = False
    offset: int = 0


def run_try(
    course: Course, week: Week, what: str, *, show: bool, quick: bool, device: str, out: Path | None
) -> bool:
    """Grade it, print the results, and write the page; return whether it was graded."""
    console, trial = terminal(), trial_of(course, week, what)
    with terminal(stderr=True).status(f"grading {trial.submission.name}"), rare_collection():
        report = grade_batch(
            course,
            week,
            [trial.submission],
            devices=axis(device),
            jobs=1,
            sandbox="none" if quick or trial.own_code else "auto",
        ).submissions[0]
    report = _renumbered(report, trial.offset)
    for line in trial.submission.notes:
        console.print(f"note: {line.text}", style="dim", soft_wrap=True)
    _print(console, week, report)
    name = "".join(c if c.isalnum() or c in "-_" else "-" for c in report.name)[:80]
    path = out or course.state / "tried" / week.name / f"{name}.html"
    path.parent.mkdir(parents=True, exist_ok=True)
    write_output(path, feedback_page(report, week, course).encode())
    console.print(f"the page: {path}", soft_wrap=True)
    if show:
        import webbrowser

        webbrowser.open(path.resolve().as_uri())
    return report.verdict is Ending.GRADED


def trial_of(course: Course, week: Week, what: str) -> Trial:
    """Read a program: `-` for standard input, a path, or a program of the bank.

    Python that lacks some exercises is appended to the solution, as misconceptions are.
    """
    bank = Bank(course, week)
    if what == "-":
        return _on_solution(bank, "standard input", _read_stdin())
    path = Path(what)
    if path.exists():
        if path.suffix == ".py" and path.is_file() and path.name != week.module:
            text = path.read_text(encoding="utf-8-sig", errors="replace")
            return _on_solution(bank, path.stem, text)
        return Trial(read_submission(path, week, course.limits(week), path.stem))
    programs = {m.name: m.source for m in bank.misconceptions}
    programs |= {a.name: a.source for a in bank.alternatives} | {"solution": bank.solution}
    if what not in programs:
        near = difflib.get_close_matches(what, programs, n=3)
        guess = f"; did you mean {' or '.join(near)}?" if near else ""
        raise KitError(f"{what} is neither a file nor a misconception of {week.name}{guess}")
    source = programs[what]
    offset = bank.solution.count("\n") + 2 if source != bank.solution else 0
    return Trial(Submission(what, {week.module: source.encode()}), own_code=True, offset=offset)


def _read_stdin() -> str:
    if sys.stdin.isatty():
        key = "Ctrl-Z and Return" if sys.platform == "win32" else "Ctrl-D"
        print(f"type or paste Python, then {key} on a new line:", file=sys.stderr)
    return sys.stdin.read()


def _on_solution(bank: Bank, name: str, text: str) -> Trial:
    """Append a snippet to the solution; a whole module is used unchanged."""
    source, offset = bank.complete_module(text.removeprefix("\ufeff"), name)
    submission = Submission(clean_name(name), {bank.week.module: source.encode()})
    return Trial(submission, offset=offset)


def _print(console: Console, week: Week, report: SubmissionReport) -> None:
    console.print(f"{report.name}: {report.score:g} of {report.max_score:g}", style="bold")
    if report.message:
        console.print(report.message, soft_wrap=True, markup=False)
    width = max(len(e.name) for e in week.exercises)
    printed: set[str] = set()
    for e in report.exercises if report.verdict is not Ending.REFUSED else ():
        console.print(f"  {e.name.ljust(width)}  {e.score:g} of {e.max_score:g}")
        for line in _explanation(e, week, printed) if e.score < e.max_score else ():
            console.print(f"      {line}", soft_wrap=True)
    if report.attempts:
        console.print(f"looks like an attempt: {', '.join(report.attempts)}", soft_wrap=True)
    for failed in report.unexplained:
        console.print(f"a later step of the grading system failed: {failed}", soft_wrap=True)


def _explanation(e: ExerciseReport, week: Week, printed: set[str]) -> list[str]:
    """Explain an exercise's score; `printed`: messages that need not be repeated."""
    lines = [
        f"{d.name}: {d.title}" + (f" (explains {d.explains} of {d.of})" if d.of else "")
        for d in e.explained
    ]
    lines += [f"inherits the mistake of {name}" for name in e.inherits]
    lines += [f"{place.file}, line {place.line}: {question(place.kind)}" for place in e.suspects]
    failed = [t for t in e.tests if t.verdict.failed]
    shown = 0
    for test in failed:
        message = test.message.replace(f"`{e.name}`", "``")
        if shown == _MAX_MESSAGES or message in printed:
            continue
        shown += 1
        printed.add(message)
        where = f" (line {test.line} of {week.module})" if test.line else ""
        lines.append(f"{test.name}: {test.verdict}: {test.message}{where}")
    if rest := len(failed) - shown:
        head = f"and {rest} more" if shown else f"as above: {rest}"
        lines.append(f"{head} {'test' if rest == 1 else 'tests'}")
    return lines


def _renumbered(report: SubmissionReport, offset: int) -> SubmissionReport:
    """Count lines from the start of the given text, not of the solution in front of it."""

    def renumbered(thing: Any) -> Any:
        return msgspec.structs.replace(thing, line=thing.line - offset * (thing.line > offset))

    exercises = tuple(
        msgspec.structs.replace(
            e,
            tests=tuple(map(renumbered, e.tests)),
            suspects=tuple(map(renumbered, e.suspects)),
        )
        for e in report.exercises
    )
    message = _LINE.sub(lambda m: str(int(m[0]) - offset * (int(m[0]) > offset)), report.message)
    return msgspec.structs.replace(report, exercises=exercises, message=message)
