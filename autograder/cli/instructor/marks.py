"""`marks` and `requests`: manual marking, and students' requests for a regrade."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Option

from ...model.course import Course, Week
from ...model.errors import KitError
from ...model.message_text import visible
from ..app import instructor_command
from ..options import WeekArgument, find_week
from ..output import print_attention, write_output


@instructor_command
def marks(
    week: WeekArgument,
    out: Annotated[
        Path | None, Option(help="Write the answers here, with codes instead of names.")
    ] = None,
    sheet: Annotated[Path | None, Option("--from", help="Read a marked sheet.")] = None,
    marker: Annotated[str, Option(help="With --from: the marker's name.")] = "",
    apart: Annotated[
        float, Option(min=0, help="Largest difference of two marks whose mean counts.")
    ] = 0.5,
) -> bool:
    """Mark written answers on an anonymous sheet, by one person or several.

    Exit code 1 if two markers disagree, or an answer was marked in Formgrader.

    Example: autograder marks week01 --out sheet.csv
    Example: autograder marks week01 --from sheet.csv --marker bea
    """
    course, chosen = find_week(week)
    if sheet is not None and marker and out is None:
        return _read_sheet(course, chosen, sheet, marker, apart)
    if sheet is not None or out is None:
        raise KitError("name --out FILE, or --from FILE with --marker NAME")
    from ...nbgrader.formgrader.marking_sheets import sheet as written

    text = written(course, chosen)
    write_output(out, text.encode())
    print(f"{out}: {text.count(chr(10))} lines, with codes instead of students' names")
    return True


def _read_sheet(course: Course, week: Week, path: Path, marker: str, apart: float) -> bool:
    from ...nbgrader.collect.groups import share_marks
    from ...nbgrader.formgrader.manual_marks import keep_marks
    from ...nbgrader.formgrader.marking_sheets import read_marks

    found = read_marks(course, week, path, marker, apart)
    shared = share_marks(course, week)
    keep_marks(course)
    print(f"{found.entered} marks are in the gradebook")
    for line in shared:
        print(line)
    attention = [
        f"two markers disagree: {line}: decide in Formgrader, or on a new sheet"
        for line in found.apart
    ]
    if found.kept:
        attention.append(f"marked in Formgrader, so not changed: {', '.join(found.kept)}")
    return print_attention(attention)


@instructor_command
def requests(
    week: WeekArgument,
    answer: Annotated[
        str | None, Option(metavar="STUDENT", help="Close a request, with --text.")
    ] = None,
    text: Annotated[str, Option(help="The answer, shown in the feedback.")] = "",
) -> bool:
    """Show who asks for a regrade, and why; exit code 1 if a request is open.

    Students ask with a file `regrade-request.md` in the week's folder, submitted again.

    Example: autograder requests week01 --answer ada --text "You are right: see your new score."
    """
    course, chosen = find_week(week)
    if (answer is None) != (not text):
        raise KitError("--answer STUDENT and --text need each other")
    from ...nbgrader.regrade.regrade_log import answer_request, open_requests, read_request

    if answer is not None:
        answer_request(course, chosen, answer, text)
        print(f"answered; `autograder feedback {chosen.name} --student {answer}` delivers it")
    waiting = open_requests(course, chosen)
    for name in waiting:
        request = read_request(course, chosen, name)
        if request is not None:
            print(f"{name}, {request.asked}:")
            for line in request.text.splitlines():
                print(f"    {visible(line)}")
    if not waiting:
        print("there are no open requests")
    return not waiting
