"""`marks` and `requests`: manual marking, and students' requests for a regrade."""

from __future__ import annotations

from pathlib import Path

from ...model.course import Course, Week
from ...model.visible import visible
from ...nbgrader.collect.groups import share_marks
from ...nbgrader.formgrader.manual_marks import keep_marks
from ...nbgrader.formgrader.marking_sheets import read_marks, sheet
from ...nbgrader.regrade.requests import answer_request, open_requests, read_request
from ..output import write_output


def write_sheet(course: Course, week: Week, out: Path) -> None:
    """Write the anonymous sheet of a week's written answers."""
    text = sheet(course, week)
    write_output(out, text.encode())
    print(f"{out}: {text.count(chr(10))} lines, with codes instead of students' names")


def read_sheet(course: Course, week: Week, path: Path, marker: str, apart: float) -> bool:
    """Read a marked sheet; return False if marks need a third opinion."""
    found = read_marks(course, week, path, marker, apart)
    shared = share_marks(course, week)
    keep_marks(course)
    print(f"{found.entered} marks are in the gradebook")
    for line in shared:
        print(line)
    for line in found.apart:
        print(f"LOOK  two markers disagree: {line}: decide in Formgrader, or on a new sheet")
    if found.kept:
        print(f"LOOK  marked in Formgrader, so not changed: {', '.join(found.kept)}")
    return not (found.apart or found.kept)


def run_requests(course: Course, week: Week, student: str | None, text: str) -> bool:
    """Show the open requests, or answer one; return whether none is left open."""
    if student is not None:
        answer_request(course, week, student, text)
        print(f"answered; `autograder feedback {week.name} --student {student}` delivers it")
    waiting = open_requests(course, week)
    for name in waiting:
        request = read_request(course, week, name)
        if request is not None:
            print(f"{name}, {request.asked}:")
            for line in request.text.splitlines():
                print(f"    {visible(line)}")
    if not waiting:
        print("there are no open requests")
    return not waiting
