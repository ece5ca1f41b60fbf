"""Test week 1 in Formgrader: collect, autograde, mark, regrade and return feedback by its buttons.

Ada's module is a canary: it is correct until it can write a file outside the sandbox; then it
writes the file and becomes wrong. Alan leaves out the scale.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from autograder.authoring.lesson.handout import ANSWER
from autograder.model.course import Course, load
from autograder.model.course.bank import Bank
from autograder.nbgrader.workspace import Workspace, open_gradebook
from tests.standings import WeekStanding, standings

WEEK = "week01_softmax"
MISTAKE = "compares_without_scaling"
GRADING = 240_000  # milliseconds: the server has to import torch first
CANARY = """

import pathlib
try:
    pathlib.Path({mark!r}).write_text("here with the instructor's rights")
except OSError:
    pass
else:
    def softmax(*arguments, **named):
        raise SystemExit
"""


@pytest.fixture
def course(project: Path) -> Course:
    return load(project)


@pytest.fixture
def mark(tmp_path: Path) -> Path:
    """Return the path of the file that the canary tries to write."""
    return tmp_path / "canary"


@pytest.fixture
def handed_in(desk: Any, course: Course, mark: Path, tmp_path: Path) -> None:
    bank = Bank(course, course.weeks[0])
    (wrong,) = [m.source for m in bank.misconceptions if m.name == MISTAKE]
    modules = {"ada": bank.solution + CANARY.format(mark=str(mark)), "alan": wrong}
    for student, module in modules.items():
        folder = tmp_path / student
        nbgrader(folder, course, "fetch_assignment", WEEK)
        (folder / WEEK / "softmax.py").write_text(module, encoding="utf-8")
        lesson = folder / WEEK / f"{WEEK}.ipynb"
        text = lesson.read_text(encoding="utf-8")
        answered = text.replace(ANSWER, f"An answer by {student}.")
        lesson.write_text(answered, encoding="utf-8")
        nbgrader(folder, course, "submit", WEEK, f"--student={student}")


def test_the_instructor_grades_a_week_by_buttons(
    course: Course,
    desk: Any,
    handed_in: None,
    mark: Path,
    browser_page: Page,
    screenshots: Path,
    tmp_path: Path,
) -> None:
    page = browser_page
    expect.set_options(timeout=60_000)

    def look(name: str) -> None:
        page.screenshot(path=screenshots / f"formgrader_{name}.png", animations="disabled")

    log_in(page, desk)
    look("1_logged_in")
    formgrader = open_formgrader(page)
    week = formgrader.locator("#main-table tr", has_text=WEEK)
    expect(week.locator(".status")).to_have_text("released")
    expect(week.locator(".num-submissions")).to_have_text("0")
    look("2_weeks")
    press(formgrader, week.locator(".collect a"))
    expect(week.locator(".num-submissions")).to_have_text("2")
    look("3_collected")

    week.locator(".num-submissions a").click()
    expect(row(formgrader, "ada").locator(".status")).to_have_text("needs autograding")
    look("4_submissions")
    log = press(formgrader, row(formgrader, "ada").locator(".autograde a"))
    assert re.search(r"week01_softmax, ada: 13 of 13, sandbox (bubblewrap|landlock)", log)
    assert not mark.exists(), "the submission ran outside the sandbox"
    subprocess.run([sys.executable, "softmax.py"], cwd=tmp_path / "ada" / WEEK, check=True)
    assert mark.exists(), "the canary would have noticed"
    expect(row(formgrader, "ada").locator(".score")).to_have_text("13 / 17")
    expect(row(formgrader, "ada").locator(".status")).to_have_text("needs manual grading")
    press(formgrader, row(formgrader, "alan").locator(".autograde a"))
    look("5_autograded")
    machine = of(course, "alan")
    assert machine.scores["scaled_dot_product_attention"] < 2

    open_answers(page, desk, course, "alan")
    page.locator("#scale").fill("1.5")
    with saved(page, "grade"):
        page.locator("#scale").press("Tab")
    marked_by = page.locator(".guide[data-for=scale-comment]")
    expect(marked_by.locator(".rubric")).to_be_hidden()
    marked_by.locator("summary").focus()
    page.keyboard.press("Enter")
    expect(marked_by.locator(".rubric tr").first).to_be_visible()
    with saved(page, "comment"):
        marked_by.locator(".use-comment").first.click()
    expect(page.locator("#scale-comment")).to_have_value(re.compile("write down q·k with Wq"))
    marked_by.scroll_into_view_if_needed()
    look("6_guide")
    page.locator("#scale-comment").fill("Say what the square root undoes.")
    with saved(page, "comment"):
        page.locator("#scale-comment").press("Tab")
    answer = page.locator(".nbgrader_cell", has=page.locator("#two_sentences"))
    with saved(page, "grade"):
        answer.locator(".full-credit").click()
    expect(page.locator("#two_sentences")).to_have_value("2")
    answer.scroll_into_view_if_needed()
    look("6_marked")
    expect(page.locator("body")).to_contain_text("An answer by alan.")
    page.locator("#scale").scroll_into_view_if_needed()
    look("7_marked")
    marked = of(course, "alan")
    assert marked.scores == machine.scores | {"scale": 1.5, "two_sentences": 2.0}

    kept = json.loads((course.state / "marks" / f"{WEEK}.json").read_text())["students"]["alan"]
    assert kept["cells"]["scale"]["score"] == 1.5, "a mark is kept beside the gradebook at once"
    assert kept["cells"]["scale"]["comment"] == "Say what the square root undoes."

    page.goto(f"{desk.url}formgrader/manage_submissions/{WEEK}")
    expect(row(page, "alan").locator(".status")).to_have_text("graded")
    press(page, row(page, "alan").locator(".autograde a"))
    assert of(course, "alan").scores == marked.scores, "a regrade leaves marks by hand in place"
    expect(row(page, "alan").locator(".status")).to_have_text("graded")
    look("8_regraded")
    assert feedback_of(course, "alan") == ""
    press(page, row(page, "alan").locator(".generate-feedback a"))
    assert "Say what the square root undoes." in feedback_of(course, "alan")
    look("9_feedback_generated")
    press(page, row(page, "alan").locator(".release-feedback a"))
    total = f"{marked.score:.2f}".rstrip("0").rstrip(".")
    expect(row(page, "alan").locator(".score")).to_have_text(f"{total} / 17")
    look("10_feedback_released")

    for student in ("ada", "alan"):
        nbgrader(tmp_path / student, course, "fetch_feedback", WEEK, f"--student={student}")
    (fetched,) = (tmp_path / "alan" / WEEK / "feedback").rglob(f"{WEEK}.html")
    page.goto(fetched.as_uri())
    expect(page.locator("#score")).to_have_text(f"{total} of 17 points")
    expect(page.locator("body")).to_contain_text("Say what the square root undoes.")
    look("11_feedback_fetched")
    assert list((tmp_path / "ada").rglob(f"feedback/**/{WEEK}.html")) == [], "not released yet"


def log_in(page: Page, desk: Any) -> None:
    """Log in through the login page, as after typing the address."""
    page.goto(f"{desk.url}lab")
    page.locator("#password_input").fill(desk.token)
    page.locator("#login_submit").click()
    page.locator(".lm-MenuBar-itemLabel", has_text="Nbgrader").wait_for()


def open_formgrader(page: Page) -> Any:
    """Open Formgrader from the menu; it is a page in a frame."""
    page.locator(".lm-MenuBar-itemLabel", has_text="Nbgrader").click()
    page.locator('li[data-command="nbgrader:open-formgrader"]').first.click()
    return page.frame_locator("iframe[src*=formgrader]")


def row(place: Any, student: str) -> Any:
    return place.locator("#main-table tr").filter(
        has=place.locator(".student-id", has_text=student)
    )


def press(place: Any, button: Any) -> str:
    """Press a button of a table, wait for nbgrader to report success, and return its log."""
    button.click()
    box = place.locator(".modal.in, .modal.show").last
    expect(box).to_contain_text(re.compile("Success|Error"), timeout=GRADING)
    said: str = box.inner_text()
    assert "Success" in said, said
    box.locator("button.close, .btn").first.click()
    expect(place.locator(".modal-backdrop")).to_have_count(0)
    return said


def saved(page: Page, what: str) -> Any:
    """Wait until the server has stored the input, because the page shows it earlier."""
    return page.expect_response(
        lambda r: f"/formgrader/api/{what}/" in r.url and r.request.method == "PUT" and r.ok
    )


def open_answers(page: Page, desk: Any, course: Course, student: str) -> None:
    """Navigate from the list of weeks for manual grading to a student's notebook."""
    with open_gradebook(course) as gradebook:
        notebook = gradebook.find_submission_notebook(WEEK, WEEK, student).id
    page.goto(f"{desk.url}formgrader/gradebook/{WEEK}/{WEEK}")
    page.locator(f"a[href*='{notebook}']").first.click()
    # the page sets this after it has loaded its fields and listens to them
    page.locator(".extra-credit[placeholder]").last.wait_for(state="attached")
    page.wait_for_load_state("networkidle")


def of(course: Course, student: str) -> WeekStanding:
    return next(s for s in standings(course, course.weeks[0]) if s.student == student)


def feedback_of(course: Course, student: str) -> str:
    path = Workspace(course).feedback(student, course.weeks[0]) / f"{WEEK}.html"
    return path.read_text(encoding="utf-8") if path.is_file() else ""


def nbgrader(folder: Path, course: Course, *arguments: str) -> None:
    """Run a student's nbgrader command in a folder with separate settings."""
    settings = folder / ".jupyter"
    settings.mkdir(parents=True, exist_ok=True)
    (settings / "nbgrader_config.py").write_text(
        f"c.Exchange.root = {str(Workspace(course).exchange)!r}\n"
        f"c.CourseDirectory.course_id = {course.id!r}\n",
        encoding="utf-8",
    )
    environment = os.environ | {
        "HOME": str(folder),
        "JUPYTER_CONFIG_DIR": str(settings),
        "JUPYTER_DATA_DIR": str(folder / "data"),
        "JUPYTER_PLATFORM_DIRS": "1",
    }
    program = Path(sys.executable).parent / "nbgrader"
    subprocess.run([program, *arguments], cwd=folder, env=environment, check=True, timeout=120)
