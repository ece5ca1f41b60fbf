"""`marks` and `requests` on a terminal."""

from __future__ import annotations

from pathlib import Path

from ....files.atomic import replace_file
from ....model.course.loader import Course, Week
from ....model.errors import KitError
from ....model.visible import visible
from ....nbgrader.collect.groups import share_marks
from ....nbgrader.formgrader.manual_marks import keep_marks
from ....nbgrader.formgrader.marking_sheets import read_marks, sheet
from ....nbgrader.regrade.requests import answer_request, open_requests, read_request


def run_sheet(course: Course, week: Week, out: Path) -> None:
    """Write the sheet."""
    text = sheet(course, week)
    try:
        replace_file(out, text.encode())
    except OSError as error:
        raise KitError(f"{out}: cannot be written: {error.strerror}") from None
    print(f"{out}: {text.count(chr(10))} lines; codes stand for students, and no name is in it")


def run_read(course: Course, week: Week, path: Path, marker: str, apart: float) -> bool:
    """Take a marked sheet; return whether nothing waits for a third look."""
    found = read_marks(course, week, path, marker, apart)
    shared = share_marks(course, week)
    keep_marks(course)
    print(f"{found.entered} marks are in the gradebook")
    for line in shared:
        print(line)
    for line in found.apart:
        print(f"LOOK  two markers are apart: {line}: settle it in Formgrader, or on a new sheet")
    if found.kept:
        print(f"LOOK  marked in Formgrader and left alone: {', '.join(found.kept)}")
    return not (found.apart or found.kept)


def run_requests(course: Course, week: Week, student: str | None, text: str) -> bool:
    """Show what is asked, or answer it; return whether nobody waits."""
    if student is not None:
        answer_request(course, week, student, text)
        print(f"answered; `autograder feedback {week.name} --student {student}` brings it to them")
    waiting = open_requests(course, week)
    for name in waiting:
        request = read_request(course, week, name)
        if request is not None:
            print(f"{name}, {request.asked}:")
            for line in request.text.splitlines():
                print(f"    {visible(line)}")
    if not waiting:
        print("nobody waits for an answer")
    return not waiting
