"""A graded class of the tiny course, with written answers that are not marked yet."""

from __future__ import annotations

import base64
import json
from pathlib import Path

from autograder.model.course import Course, load
from autograder.nbgrader.autograde.recorder import record
from autograder.nbgrader.collect.submissions import accept
from autograder.nbgrader.release.publish import release
from autograder.nbgrader.workspace import Workspace, open_gradebook
from tests.nbgrader.tiny_course import REGISTRY, SOLUTION, WEEK, graded, png, report, write_course

ON_TIME, LATE = "2020-01-10 12:00:00.000000 UTC", "2020-01-15 12:00:00.000000 UTC"
EVIL = "<script>alert(1)</script> [x](javascript:alert(2)) ![p](attachment:p.png)"
ANSWERS = {"ada": "Because.", "bob": "Because.", "cy": EVIL, "dan": ""}


def write_graded_class(root: Path) -> None:
    """Write the course and grade four students; dan did not answer, and eve is absent."""
    write_course(root)
    (root / "course.yaml").write_text(f"{REGISTRY}late: {{percent: 10}}\n", "utf-8")
    course = load(root)
    release(course, course.weeks[0])
    for name, text in ANSWERS.items():
        hand_in(course, name, text, LATE if name == "cy" else ON_TIME)
    record(course, course.weeks[0], report(*(graded(name, 2, 1) for name in ANSWERS)))
    with open_gradebook(course) as gradebook:
        gradebook.update_or_create_student("eve", first_name="Eve", last_name="<b>Adams</b>")


def hand_in(course: Course, student: str, text: str, time: str) -> None:
    """Collect a submission with an answer; "" leaves the question as it was released."""
    week = course.weeks[0]
    notebook = json.loads(Workspace(course).released_file(week, f"{WEEK}.ipynb"))
    for cell in notebook["cells"]:
        if text and cell["metadata"].get("nbgrader", {}).get("grade_id") == "why":
            cell["source"] = text
            if "attachment" in text:
                cell["attachments"] = {"p.png": {"image/png": base64.b64encode(png()).decode()}}
    files = {"doubling.py": SOLUTION.encode(), f"{WEEK}.ipynb": json.dumps(notebook).encode()}
    accept(course, week, student, files, time, "exchange")
