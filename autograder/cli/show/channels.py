"""What goes to other systems, on a terminal: a week for Gradescope or GitHub, grades by network."""

from __future__ import annotations

from pathlib import Path

from ...channels.gradescope import autograder_zip, write_zip
from ...model.course import Course, Week


def run_gradescope(
    course: Course, week: Week, out: Path | None, visibility: str, feedback: str
) -> None:
    """Write the autograder zip, and say what is in it and where it may go."""
    data = autograder_zip(course, week, visibility, feedback)
    path = out or Path(f"{week.name}-gradescope.zip")
    write_zip(path, data)
    print(f"{path}: upload it under Configure Autograder; the container needs 2 GB of memory")
    print(
        "LOOK  it holds hidden tests and solutions: for you and the course's staff on Gradescope "
        "alone. In the container only root reads them"
    )
    if week.questions:
        written = ", ".join(q.name for q in week.questions)
        print(f"not in it: the written answers ({written}), which a person marks")
