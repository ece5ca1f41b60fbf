"""Mark answers with the keyboard, grant an extension and answer a request in a real browser.

axe-core checks each page, at phone and desktop width, in light and dark colors.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from autograder.model.course import load
from autograder.nbgrader.gradebook.database import read_hand_marks
from tests.e2e_browser.test_submit_page import PHONE, Person, look
from tests.nbgrader.tiny_course import SOLUTION, WEEK
from tests.serve.graded_class import write_graded_class
from tests.serve.running import Running, running, until

PATH = f"/marking/{WEEK}/why"


@pytest.fixture
def staffed(tmp_path: Path) -> Iterator[Running]:
    root = tmp_path / "course"
    write_graded_class(root)
    with running(Running(root, "--jobs", "1")) as service:
        yield service


def marks(service: Running) -> dict[str, float | None]:
    found = read_hand_marks(load(service.course))[WEEK]
    return {s: m.cells["why"].score for s, m in found.items() if "why" in m.cells}


def request_regrade(ada: Person, scheme: str) -> None:
    """Submit again, and request a regrade on the page of the submission."""
    ada.page.goto(f"/weeks/{WEEK}")
    module = {"name": "doubling.py", "mimeType": "", "buffer": f"{SOLUTION}# again\n".encode()}
    ada.page.set_input_files("#files", module)
    ada.page.get_by_role("button", name="Continue").click()
    ada.page.get_by_role("button", name="Submit").click()
    ada.page.wait_for_selector("#words:text-matches('^Graded')")
    ada.page.get_by_text("Request a regrade").click()
    look(ada.page, f"staff-ask-{scheme}")
    ada.page.get_by_label("About").select_option("halve")
    ada.page.get_by_label("What was graded incorrectly").fill("My `halve` is right.")
    ada.page.get_by_role("button", name="Send request").click()
    ada.page.wait_for_selector("text=Not answered yet.")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_staff_mark_answer_and_grant(staffed: Running, chromium: Any, scheme: str) -> None:
    tokens = staffed.tokens("--instructor", "prof", "--assistant", "bea", "--student", "ada")
    ada = Person(chromium, staffed.url, viewport=PHONE, color_scheme=scheme)
    ada.enter(tokens["ada"])
    request_regrade(ada, scheme)
    bea = Person(chromium, staffed.url, viewport=PHONE, color_scheme=scheme)
    bea.enter(tokens["bea"])
    bea.page.wait_for_selector("h1:has-text('Live class view')")
    bea.page.goto("/marking")
    look(bea.page, f"staff-marking-{scheme}")
    bea.page.get_by_role("link", name="why").click()
    look(bea.page, f"staff-question-{scheme}")
    bea.page.get_by_role("link", name="Start marking").click()
    first = bea.page.locator(".answer-card").first
    title = first.locator("h2").inner_text()
    for key in ("1", "2", "c"):
        bea.page.keyboard.press(key)
    assert first.locator("output").inner_text() == "3 of 3 points"
    bea.page.keyboard.type("Well said. 1 2 n s")
    stale = Person(chromium, staffed.url, color_scheme=scheme)
    stale.enter(tokens["prof"])
    stale.page.goto(PATH)
    bea.page.keyboard.press("Control+Enter")
    bea.page.wait_for_selector("text=3 of 3, entered by bea")
    assert bea.page.evaluate("document.activeElement.id") != first.get_attribute("id"), "the next"
    marked = 2 if "ada" in title else 1
    assert list(marks(staffed).values()) == [3.0] * marked
    other = stale.page.locator(f"article:has-text({title!r})")
    other.get_by_label("Adjustment").fill("1")
    other.get_by_label("Comment for the student").fill("Too late.")
    other.get_by_role("button", name="Save").click()
    stale.page.wait_for_selector("text=Your mark was not saved")
    assert other.get_by_label("Comment for the student").input_value() == "Too late."
    stale.page.set_viewport_size(PHONE)
    look(stale.page, f"staff-conflict-{scheme}")
    other.get_by_role("button", name="Save").click()
    until(lambda: list(marks(staffed).values()) == [1.0] * marked)
    prof = stale.page
    for page in ("gradebook", "requests", "people"):
        prof.goto(f"/{page}")
        look(prof, f"staff-{page}-{scheme}")
    prof.goto("/requests")
    prof.get_by_label("Answer", exact=True).fill("You are right.")
    prof.get_by_label("New points").fill("0.5")
    prof.get_by_role("button", name="Answer").click()
    prof.wait_for_selector("text=answered by prof")
    ada.page.reload()
    ada.page.wait_for_selector("text=You are right.")
    look(ada.page, f"staff-answered-{scheme}")
    prof.goto("/extensions")
    prof.get_by_label("Student", exact=True).fill("eve")
    prof.get_by_label("or hours after the due date").fill("48")
    prof.get_by_label("Reason (for staff only)").fill("ill")
    prof.get_by_role("button", name="Grant extension").click()
    prof.wait_for_selector("text=15 January, 23:59")
    look(prof, f"staff-extensions-{scheme}")
    assert bea.errors == []
    assert [e for e in stale.errors if "409" not in e] == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_feedback_is_released_and_read(staffed: Running, chromium: Any, scheme: str) -> None:
    tokens = staffed.tokens("--instructor", "prof", "--student", "ada")
    prof = Person(chromium, staffed.url, viewport=PHONE, color_scheme=scheme)
    prof.enter(tokens["prof"])
    prof.page.wait_for_selector("h1:has-text('Live class view')")
    look(prof.page, f"staff-class-{scheme}")
    for path in ("nothing", f"marking/{WEEK}"):
        prof.page.goto(f"/{path}")
        look(prof.page, f"staff-{path.partition('/')[0]}-{scheme}")
    prof.page.goto("/gradebook")
    prof.page.get_by_role("button", name="Release feedback").click()
    prof.page.wait_for_selector("text=are not marked yet")
    look(prof.page, f"staff-unmarked-{scheme}")
    prof.page.get_by_label("Release it although").check()
    prof.page.get_by_role("button", name="Release feedback").click()
    prof.page.wait_for_selector("text=Released to 4 of 4 students")
    prof.page.wait_for_selector("text=pages are in nbgrader's exchange")  # without a reload
    look(prof.page, f"staff-released-{scheme}")
    ada = Person(chromium, staffed.url, viewport=PHONE, color_scheme=scheme)
    ada.enter(tokens["ada"])
    ada.page.wait_for_selector("h1:has-text('Your weeks')")
    look(ada.page, f"student-home-{scheme}")
    ada.page.goto(f"/weeks/{WEEK}/feedback")
    assert "Feedback for ada" in ada.page.inner_text("body")
    look(ada.page, f"student-feedback-{scheme}")
    ada.page.goto("/")
    ada.page.get_by_role("button", name="token").click()
    ada.page.wait_for_selector("main code")
    look(ada.page, f"student-token-{scheme}")
    assert [e for e in prof.errors if "404" not in e and "422" not in e] == []
    assert ada.errors == []


def test_marking_works_without_script(staffed: Running, chromium: Any) -> None:
    tokens = staffed.tokens("--assistant", "bea")
    bea = Person(chromium, staffed.url, java_script_enabled=False)
    bea.enter(tokens["bea"])
    bea.page.goto(f"{PATH}?separately")
    card = bea.page.locator("article:has-text('bob')")
    card.get_by_role("checkbox").first.check()
    card.get_by_role("button", name="Save").click()
    bea.page.wait_for_selector("text=2 of 3, entered by bea")
    assert marks(staffed) == {"bob": 2.0}
