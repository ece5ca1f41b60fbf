"""`autograder restore` on a terminal."""

from __future__ import annotations

from ....model.course.loader import Course, Week
from ....nbgrader.collect.earlier import chosen_entry, restore, submissions_of
from ....nbgrader.collect.history import Entry, History
from ....nbgrader.gradebook.effective_results import PastResult, results
from ....nbgrader.status import returned
from ....nbgrader.workspace import Workspace


def run_restore(course: Course, week: Week, student: str, wanted: str | None) -> None:
    """List a student's submissions, or restore one of them."""
    history = submissions_of(course, week, student)
    if wanted is not None:
        entry = chosen_entry(history, wanted)
        for line in restore(course, week, student, entry):
            print(line)
        print(f"submission {entry.number} of {entry.when} counts until {student} submits again")
        if returned(Workspace(course), week, student):
            print(f"their feedback shows another one: `autograder feedback {week.name}`")
        return
    known = {r.number: r for r in results(course, week, student)}
    for entry in history.entries:
        print(_line(entry, history, known.get(entry.number)))
    print(f"restore one: `autograder restore {week.name} {student} --to NUMBER`")


def _line(entry: Entry, history: History, result: PastResult | None) -> str:
    if entry.problem:
        what = f"not accepted: {entry.problem}"
    elif result is None:
        what = "not graded yet"
    else:
        what = f"{result.kept:g} points"
    kept = [part.name for part in entry.parts if part.fate == "kept"]
    parts = f"; kept {', '.join(kept)}" if kept else ""
    counts = "*" if entry.number == history.current else " "
    return f"{counts} {entry.number:>3}  {entry.when}  {entry.channel:9} {what}{parts}"
