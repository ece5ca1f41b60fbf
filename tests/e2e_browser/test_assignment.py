"""Test week 1 in a student's JupyterLab: assignment list, notebook, Validate button, feedback."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

from playwright.sync_api import expect

from autograder.authoring.lesson.handout import ANSWER
from autograder.model.course import load
from autograder.model.course.bank import Bank

WEEK = "week01_softmax"
MISTAKE = "compares_without_scaling"
SLOW = 240_000  # milliseconds: validating runs the whole lesson


def test_a_student_fetches_writes_validates_submits_and_reads_feedback(
    project: Path,
    instructor: Callable[..., str],
    lab: Any,
    browser_page: Any,
    screenshots: Path,
) -> None:
    page = browser_page
    expect.set_options(timeout=60_000)

    def look(name: str) -> None:
        page.screenshot(path=screenshots / f"{name}.png")

    instructor("release", "week01", "--early", "--unproven")
    page.goto(lab.page())
    open_assignments(page)
    look("1_released")
    page.locator("#released_assignments_list .item_status button").click()
    expect(page.locator("#fetched_assignments_list > .list_item")).to_have_count(1)
    look("2_fetched")

    folder = lab.home / WEEK
    assert (folder / "softmax.py").is_file()
    write(page, lab, "softmax.py", wrong_module(project))
    page.goto(lab.page(f"/tree/{WEEK}/softmax.py"))
    page.locator(".jp-FileEditor .cm-content").wait_for()
    look("3_editor")

    page.goto(lab.page(f"/tree/{WEEK}/{WEEK}.ipynb"))
    page.locator(".jp-NotebookPanel .jp-Cell").first.wait_for()
    page.locator(".jp-RenderedImage img, .jp-RenderedMarkdown img").first.wait_for()
    look("4_notebook")
    said = validated(page, lambda: look("5_validated_too_early"))
    assert "scaled_dot_product_attention" in said, "the exercise with a mistake is named"
    assert said.count("You did not provide a response.") == 2, "so are the open questions"
    answered = (folder / f"{WEEK}.ipynb").read_text(encoding="utf-8")
    write(page, lab, f"{WEEK}.ipynb", answered.replace(ANSWER, "It keeps the scores apart."))

    page.goto(lab.page())
    open_assignments(page)
    page.locator("#fetched_assignments_list button", has_text="Submit").first.click()
    expect(page.locator("#submitted_assignments_list > .list_item")).to_have_count(1)
    look("6_submitted")

    assert "under other names: 1 (ada)" in instructor("collect", "week01", code=1)  # unknown user
    instructor("grade", "week01")
    instructor("feedback", "week01", "--unmarked")

    page.locator("#refresh_assignments_list").click()
    page.locator("#submitted_assignments_list button", has_text="Feedback").first.click()
    expect(page.locator("#submitted_assignments_list")).to_contain_text("view feedback")
    look("7_feedback_fetched")
    (feedback,) = (folder / "feedback").rglob(f"{WEEK}.html")
    page.goto(lab.page(f"/tree/{quote(feedback.relative_to(lab.home).as_posix())}"))
    shown = page.frame_locator("iframe").locator("body")
    expect(shown).to_contain_text("Softmax and attention")
    expect(shown).to_contain_text("scaled_dot_product_attention")
    look("8_feedback")


def open_assignments(page: Any) -> None:
    page.locator(".lm-MenuBar-itemLabel", has_text="Nbgrader").click()
    page.locator('li[data-command="nbgrader:open-assignment-list"]').first.click()
    expect(page.locator("#released_assignments_list_loading")).not_to_be_visible()
    page.locator("#released_assignments_list").wait_for()


def wrong_module(project: Path) -> str:
    """Return the solution with one misconception, so that there is feedback."""
    course = load(project)
    bank = Bank(course, course.weeks[0])
    (found,) = [m for m in bank.misconceptions if m.name == MISTAKE]
    return found.source


def validated(page: Any, look: Callable[[], None]) -> str:
    """Press Validate and return nbgrader's message."""
    page.locator(".validate-button").first.click()
    dialog = page.locator(".jp-Dialog")
    expect(dialog).to_contain_text(re.compile("success|failed", re.I), timeout=SLOW)
    look()
    said: str = dialog.inner_text()
    dialog.locator("button").last.click()
    return said


def write(page: Any, lab: Any, name: str, text: str) -> None:
    """Save it through the server, as JupyterLab's editor does."""
    kind = "notebook" if name.endswith(".ipynb") else "file"
    content = json.loads(text) if kind == "notebook" else text
    saved = page.request.put(
        f"{lab.url}api/contents/{WEEK}/{name}",
        headers={"Authorization": f"token {lab.token}"},
        data={
            "type": kind,
            "format": "json" if kind == "notebook" else "text",
            "content": content,
        },
    )
    assert saved.ok, saved.text()
