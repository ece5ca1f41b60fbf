"""`demo`: run a sample week with nbgrader and show the results."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from rich.progress import BarColumn, TextColumn, TimeElapsedColumn

from ...model.course import load
from ...model.report.schema import Ending
from ...terminal.console import Terminal, bar, terminal
from ..output import new_table
from .grading import print_scores

if TYPE_CHECKING:
    from ...nbgrader.demo import DemoResult


def demo() -> bool:
    """Run one week of the course in demo/, with nbgrader and a sample class of twelve students.

    Example: autograder demo
    """
    from ...nbgrader.demo import play, steps

    course = load()
    percent = TextColumn("{task.percentage:>3.0f}%")
    columns = BarColumn(), percent, TimeElapsedColumn(), TextColumn("{task.description}")
    with bar(*columns) as progress:
        task = progress.add_task("", total=steps(course))
        began: dict[str, float] = {}  # start time of each step

        def on_progress(step: str, done: int) -> None:
            if step not in began:
                print_time()
                began[step] = time.perf_counter()
            progress.update(task, description=step, advance=done)

        def print_time() -> None:
            for step, start in [*began.items()][-1:]:
                seconds = time.perf_counter() - start
                progress.console.print(f"{seconds:6.1f} s  {step}", highlight=False)

        played = play(course, on_progress)
        print_time()
    console = terminal()
    if not console.is_terminal:
        console = terminal(width=100)
    _print_class(console, played)
    headings = (">students", "exercise", "misconception")
    table = new_table(*headings, title="\nCommon misconceptions")
    for exercise, title, count in played.commonest():
        table.add_row(str(count), exercise, title)
    console.print(table)
    console.print("\nFeedback (open in a browser):")
    for _, page in sorted(played.pages.items()):
        console.print(f"  {page.relative_to(course.root)}", soft_wrap=True)
    if played.fetched:
        student, page = min(played.fetched.items())
        console.print(f"The notebook with feedback, as {student} fetched it with nbgrader:")
        console.print(f"  '{page.relative_to(course.root)}'", soft_wrap=True)
    return all(s.verdict is not Ending.GRADER_FAULT for s in played.report.submissions)


def _print_class(console: Terminal, played: DemoResult) -> None:
    from ...nbgrader.demo import sample_class

    console.print("\nThe class:")
    for pupil in sample_class(played.course):
        console.print(f"  {pupil.name:10} {pupil.story}", highlight=False)
    print_scores(console, played.report)
    to_mark = sum(e.to_mark for e in played.entries)
    console.print(f"{to_mark} written answers are waiting to be marked in Formgrader.")
    for line in played.notes:
        console.print(line)
