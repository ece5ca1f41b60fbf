"""`autograder demo`: play a sample week with nbgrader and show the result."""

from __future__ import annotations

import time

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from ...lms.grade_files import total
from ...model.course import Course
from ...model.report.schema import SubmissionReport
from ...model.report.verdicts import Ending
from ...nbgrader.demo import DemoResult, play, sample_class, steps
from ...terminal.console import bar, terminal


class _StepTimer:
    """A progress bar on standard error, and a line with the time of each finished step."""

    def __init__(self, progress: Progress, total: int) -> None:
        self._progress, self._task = progress, progress.add_task("", total=total)
        self._step, self._began = "", time.perf_counter()

    def __call__(self, step: str, done: int) -> None:
        if step != self._step:
            self.end()
            self._step, self._began = step, time.perf_counter()
        self._progress.update(self._task, description=step, advance=done)

    def end(self) -> None:
        if self._step:
            seconds = time.perf_counter() - self._began
            self._progress.console.print(f"{seconds:6.1f} s  {self._step}", highlight=False)


def run_demo(course: Course) -> bool:
    """Play the sample week and show the result; return whether all submissions were graded."""
    percent = TextColumn("{task.percentage:>3.0f}%")
    columns = BarColumn(), percent, TimeElapsedColumn(), TextColumn("{task.description}")
    with bar(*columns) as progress:
        timer = _StepTimer(progress, steps(course))
        played = play(course, timer)
        timer.end()
    console = terminal()
    if not console.is_terminal:
        console = terminal(width=100)
    _print_gradebook(console, played)
    table = Table(title="\nCommon misconceptions", title_justify="left")
    table.add_column("students", justify="right")
    table.add_column("exercise", overflow="fold")
    table.add_column("misconception", overflow="fold")
    for exercise, title, count in played.commonest():
        table.add_row(str(count), exercise, title)
    console.print(table)
    _print_pages(console, course, played)
    return all(s.verdict is not Ending.GRADER_FAULT for s in played.report.submissions)


def _print_gradebook(console: Console, played: DemoResult) -> None:
    names = [e.name for e in played.week.exercises]
    console.print("\nThe class:")
    for pupil in sample_class(played.course):
        console.print(f"  {pupil.name:10} {pupil.story}", highlight=False)
    table = Table(title=f"\nnbgrader's gradebook, {played.week.name}", title_justify="left")
    table.add_column("student")
    for number, _ in enumerate(names, start=1):
        table.add_column(str(number), justify="right")
    table.add_column("total", justify="right")
    table.add_column("findings, by exercise", overflow="fold")
    graded = {s.name: s for s in played.report.submissions}
    for entry in played.entries:
        submission = graded[entry.student]
        scores = {e.name: f"{e.score:g}" for e in submission.exercises}
        points = f"{entry.score:.1f}/{total(played.week):g}"
        table.add_row(
            entry.student, *(scores.get(name, "0") for name in names), points, _findings(submission)
        )
    console.print(table)
    for number, name in enumerate(names, start=1):
        console.print(f"  {number} {name}", highlight=False)
    to_mark = sum(e.to_mark for e in played.entries)
    console.print(f"{to_mark} written answers are to be marked in Formgrader.")
    for line in played.notes:
        console.print(line)


def _findings(submission: SubmissionReport) -> str:
    """Return each finding once, after the numbers of the exercises."""
    if submission.verdict is not Ending.GRADED:
        return f"{submission.verdict}: {submission.reason}"
    notes: dict[str, list[str]] = {}
    for number, exercise in enumerate(submission.exercises, start=1):
        failed = [t for t in exercise.tests if t.verdict.reported]
        if failed:
            found = exercise.diagnosis[0] if exercise.diagnosis else failed[0].verdict
            note = "not written yet" if exercise.unwritten else found
            notes.setdefault(note, []).append(str(number))
    return "; ".join(f"{', '.join(numbers)}: {note}" for note, numbers in notes.items())


def _print_pages(console: Console, course: Course, played: DemoResult) -> None:
    console.print("\nFeedback (open in a browser):")
    for _, page in sorted(played.pages.items()):
        console.print(f"  {page.relative_to(course.root)}", soft_wrap=True)
    if played.fetched:
        student, page = min(played.fetched.items())
        console.print(f"The notebook with feedback that {student} fetched with nbgrader:")
        console.print(f"  '{page.relative_to(course.root)}'", soft_wrap=True)
