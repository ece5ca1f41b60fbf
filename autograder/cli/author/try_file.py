"""`try`: show the feedback that a student would get."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
from msgspec.structs import replace
from typer import Argument, Option

from ...model.availability import axis
from ...model.course import Course, Immediate, Week
from ...model.course.bank import Bank
from ...model.report.schema import Ending, SubmissionReport
from ...terminal.console import Terminal
from ..app import flag
from ..options import DeviceOption, WeekArgument, find_week
from ..output import counted, write_output
from ..student_commands import JsonOption

if TYPE_CHECKING:
    from ...batch.intake import Submission
    from ...student.show.verdict_json import Verdicts

# the line number in an import failure, and in the description of a wrong value
_LINE = re.compile(r"(?<= does not run: line )\d+(?=, )|(?<=^Line )\d+(?= )")


def try_(
    week: WeekArgument,
    what: Annotated[
        str, Argument(help="A file, folder, zip or misconception, or - to read Python from stdin.")
    ],
    show: Annotated[bool, flag("open", "Open the page in a browser.")] = False,
    quick: Annotated[bool, Option(help="Run without the sandbox: only for trusted code.")] = False,
    device: DeviceOption = "auto",
    out: Annotated[Path | None, Option(help="The page; default: in .autograder/tried.")] = None,
    as_json: JsonOption = False,
) -> bool:
    """Show the feedback that a student would get: scores, misconceptions, lines and the page.

    Exercises that are missing from Python source are taken from the solution.

    Example: autograder try week02 swaps_slope_and_intercept --open
    """
    course, chosen = find_week(week)
    from ...batch.grade import grade_batch
    from ...feedback.render import feedback_page, submission_text
    from ...grading.warmup import rare_collection
    from ..instructor.grading import print_scores

    console, trial = Terminal(), trial_of(course, chosen, what)
    with Terminal(stderr=True).status(f"grading {trial.submission.name}"), rare_collection():
        batch = grade_batch(
            course,
            chosen,
            [trial.submission],
            devices=axis(device),
            jobs=1,
            sandbox="none" if quick or trial.own_code else "auto",
        )
    report = _renumbered(batch.submissions[0], trial.offset)
    if as_json:
        print(_verdicts(report, chosen).text())
        return report.verdict is Ending.GRADED
    for line in trial.submission.notes:
        console.print(f"note: {line.text}", style="dim", soft_wrap=True)
    console.print(submission_text(report, chosen, details=False), soft_wrap=True)
    for exercise in report.exercises:
        if failed := [t.name for t in exercise.tests if t.verdict.failed]:
            console.print(f"{exercise.name} fails {counted(failed)}", soft_wrap=True)
    print_scores(console, replace(batch, submissions=(report,)))
    name = "".join(c if c.isalnum() or c in "-_" else "-" for c in report.name)[:80]
    path = out or course.state / "tried" / chosen.name / f"{name}.html"
    path.parent.mkdir(parents=True, exist_ok=True)
    write_output(path, feedback_page(report, chosen, course).encode())
    console.print(f"feedback page: {path}", soft_wrap=True)
    if show:
        import webbrowser

        webbrowser.open(path.resolve().as_uri())
    return report.verdict is Ending.GRADED


def _verdicts(report: SubmissionReport, week: Week) -> Verdicts:
    """Return the verdicts that a student would see in a course that shows everything."""
    from ...serve.attempt_feedback import redact
    from ...student.show.verdict_json import hidden_verdicts

    examples = {e.counterexample for e in report.exercises if e.counterexample}
    visible = redact(report, week, Immediate(show="scores"), examples=examples)
    return hidden_verdicts(week.name, msgspec.to_builtins(visible))


class Trial(msgspec.Struct, frozen=True):
    """A submission to grade.

    own_code: True if it is project code, which needs no sandbox.
    offset: the number of solution lines in front of the tried code.
    """

    submission: Submission
    own_code: bool = False
    offset: int = 0


def trial_of(course: Course, week: Week, what: str) -> Trial:
    """Load a program from a path, from standard input (`-`), or from the bank by its name.

    Source that lacks exercises is appended to the solution, like a misconception. Raise KitError if
    there is no such program.
    """
    from ...batch.intake import Submission, read_submission

    bank = Bank(course, week)
    if what == "-":
        return _on_solution(bank, "standard input", _read_stdin())
    path = Path(what)
    if path.exists():
        if path.suffix == ".py" and path.is_file() and path.name != week.module:
            text = path.read_text(encoding="utf-8-sig", errors="replace")
            return _on_solution(bank, path.stem, text)
        return Trial(read_submission(path, week, course.limits(week), path.stem))
    source = bank.program(what)
    offset = bank.solution.count("\n") + 2 if source != bank.solution else 0
    return Trial(Submission(what, {week.module: source.encode()}), own_code=True, offset=offset)


def _read_stdin() -> str:
    if sys.stdin.isatty():
        key = "Ctrl-Z and Return" if sys.platform == "win32" else "Ctrl-D"
        print(f"type or paste Python code, then press {key} on a new line:", file=sys.stderr)
    return sys.stdin.read()


def _on_solution(bank: Bank, name: str, text: str) -> Trial:
    """Append a snippet to the solution, or use a complete module unchanged."""
    from ...batch.intake import Submission, clean_name

    source, offset = bank.complete_module(text.removeprefix("\ufeff"), name)
    submission = Submission(clean_name(name), {bank.week.module: source.encode()})
    return Trial(submission, offset=offset)


def _renumbered(report: SubmissionReport, offset: int) -> SubmissionReport:
    """Make line numbers in a report relative to the snippet, which follows `offset` lines."""

    def line(number: int) -> int:
        return number - offset if number > offset else number

    def moved(value: Any) -> Any:
        if isinstance(value, dict):
            return {k: line(v) if k == "line" else moved(v) for k, v in value.items()}
        if isinstance(value, list | tuple):
            return [moved(item) for item in value]
        return _LINE.sub(lambda m: str(line(int(m[0]))), value) if isinstance(value, str) else value

    return msgspec.convert(moved(msgspec.to_builtins(report)), SubmissionReport)
