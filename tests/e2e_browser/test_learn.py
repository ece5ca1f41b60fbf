"""Test self-study in a browser: a newcomer with mistakes, on a phone and in the dark, then again.

axe-core checks each page; with AUTOGRADER_SCREENSHOTS, screenshots are stored.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from autograder.model.course import load
from autograder.model.course.bank import Bank
from autograder.model.course.stubs import stub_of
from autograder.student.folder.week import open_folder
from autograder.student.show.solution import solution_lines
from tests.e2e_browser.test_submit_page import AXE, PHONE, ROOT, complaints, kept, scrolls_sideways
from tests.learn.notebook import answer
from tests.learn.running import Learning

WEEK = "week01_softmax"
MISTAKE = "exp = torch.exp(x - x.max())\n    return exp / exp.sum(dim, keepdim=True)"
FIXED = (
    "exp = torch.exp(x - x.amax(dim, keepdim=True))\n    return exp / exp.sum(dim, keepdim=True)"
)
_CHROMIUM = ("--no-sandbox", "--disable-gpu", "--disable-background-networking")


@pytest.fixture
def learning(project: Path, tmp_path: Path) -> Iterator[Learning]:
    shutil.copy(ROOT / "solutions" / "sketch.py", project / "solutions")  # for the figures
    command = Learning(project, tmp_path / "learn", "--sandbox", "auto")
    with command.client:
        yield command
        command.kill()


class Newcomer:
    """A browser that checks each page that it looks at."""

    def __init__(self, browser: Any, learning: Learning) -> None:
        self.learning = learning
        self.context = browser.new_context(viewport={"width": 1280, "height": 900})
        self.context.add_init_script(path=str(AXE))
        self.page = self.context.new_page()
        self.page.set_default_timeout(300_000)
        self.errors: list[str] = []
        self.page.on("console", lambda m: m.type == "error" and self.errors.append(m.text))

    def sees(self, text: str) -> None:
        """Wait for a text on the page, without reloading the page."""
        self.page.get_by_text(text).first.wait_for()

    def section(self, exercise: str) -> Any:
        return self.page.locator(f"section[aria-labelledby='exercise-{exercise}']")

    def look(self, name: str) -> None:
        """Check the page on a desktop and a phone, in light and dark colours."""
        for scheme in ("light", "dark"):
            self.page.emulate_media(color_scheme=scheme)
            assert complaints(self.page) == [], name
            kept(self.page, f"learn-{name}-{scheme}")
            self.page.set_viewport_size(PHONE)
            assert not scrolls_sideways(self.page), name
            assert complaints(self.page) == [], name
            kept(self.page, f"learn-{name}-{scheme}-phone")
            self.page.set_viewport_size({"width": 1280, "height": 900})
        assert self.errors == [], name


@pytest.fixture
def newcomer(learning: Learning) -> Iterator[Newcomer]:
    from playwright.sync_api import sync_playwright

    assert AXE.is_file(), f"npm install --prefix {AXE.parents[2]} axe-core"
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    assert path, "chromium is missing: sudo apt-get install chromium"
    learning.start()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(_CHROMIUM))
        yield Newcomer(browser, learning)
        browser.close()


def test_a_newcomer_learns_a_week(newcomer: Newcomer, learning: Learning, project: Path) -> None:
    page = newcomer.page
    course = load(project)
    week, stub = course.weeks[0], stub_of(course, course.weeks[0])
    solution = Bank(course, week).solution
    page.goto(learning.address)
    newcomer.look("home-first")
    page.get_by_role("link", name="Start week 1").click()
    newcomer.sees("Your last save is graded")
    newcomer.look("week-first")
    folder = open_folder(learning.folder / WEEK)

    # the lesson opens in JupyterLab without a password, and the module is edited there
    with newcomer.context.expect_page() as opened:
        page.get_by_role("link", name="Open softmax.py").click()
    lab = opened.value
    lab.set_default_timeout(300_000)
    lab.locator(".jp-FileEditor .cm-content").wait_for()
    lab.locator(".jp-FileEditor .cm-content").click()
    lab.keyboard.press("Control+a")
    lab.keyboard.insert_text(stub.replace('raise NotImplementedError("softmax")', MISTAKE))
    lab.keyboard.press("Control+s")

    newcomer.sees("subtracts the same number from every row")
    wrong = newcomer.section("softmax")
    assert "For example" in wrong.inner_text()
    assert "line" in wrong.inner_text()
    wrong.get_by_text("Failed checks and points").click()
    wrong.get_by_role("button", name="Show a hint").click()
    newcomer.sees("Hint 1 of 3")
    newcomer.look("mistake")
    lab.close()

    folder.module.write_text("def softmax(x, dim=-1:\n")
    newcomer.sees("Your last save was not graded")
    newcomer.look("does-not-import")
    folder.module.unlink()
    newcomer.sees("softmax.py is missing")
    page.get_by_role("button", name="Restore the stub").click()
    newcomer.sees("Your last save is graded: 0 of")

    folder.module.write_text(stub.replace('raise NotImplementedError("softmax")', FIXED))
    newcomer.section("softmax").get_by_role("link", name="Show the solution").click()
    newcomer.sees("Compared with your version")
    newcomer.look("solution")
    page.get_by_role("link", name="Back to the week").click()

    given_up = newcomer.section("logsumexp")
    given_up.get_by_text("Give up logsumexp").click()
    newcomer.look("giving-up")
    given_up.get_by_role("button", name="Give up and show it").click()
    newcomer.sees("\n".join(solution_lines(folder, "logsumexp", solution))[:20].split("(")[0])
    page.get_by_role("link", name="Attention from scratch").click()
    newcomer.sees("Given up: logsumexp")

    # after a restart, the same address continues where the learner stopped
    assert learning.stop() == 0
    learning.start()
    page.goto(learning.address)
    newcomer.sees("You stopped at softmax_numpy")
    newcomer.look("home-resumed")
    page.get_by_role("link", name="Continue with week 1").click()
    newcomer.sees("Your last save is graded: 2 of")

    answer(folder.path / f"{WEEK}.ipynb", "scale", "Yes: $q k / 16$.")
    page.get_by_role("button", name="Compare with the model answer").click()
    page.get_by_role("checkbox").first.check()
    page.get_by_role("button", name="Store my points").click()
    newcomer.sees("0.5 of 2")
    newcomer.look("question")
    folder.module.write_text(solution)
    question = page.locator("section[aria-labelledby='question-two_sentences']")
    question.get_by_text("Give up two_sentences").click()
    question.get_by_role("button", name="Give up and show it").click()
    newcomer.sees("Week 1 is finished")
    page.locator("figure.own img").first.wait_for()
    newcomer.look("finished")
    page.goto(learning.url)
    newcomer.sees("You have finished every week")
    newcomer.look("home-finished")
