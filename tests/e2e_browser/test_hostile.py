"""Test hostile student input on all pages where the instructor or other students see it.

Mallory submits hostile work; Eve's graded notebook is replaced by a hostile one that has not passed
the sanitizer. With `walls_down` in nbgrader's folder the sanitizer is off, so that only the pages'
Content Security Policy is left. A payload that runs calls `ran`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import nbformat
import pytest
from playwright.sync_api import Error, Page, expect

from autograder.model.course import Course, load
from autograder.nbgrader.workspace import Workspace, open_gradebook
from tests.hostile.payloads import hostile_notebook, payloads

WEEK = "week01_softmax"
BREAKS = '"><img src=x onerror=ran(950)><script>ran(951)</script>'
PAGE = "<script>parent.ran(960)</script><body onload=ran(961)>"
SETTINGS = """
import pathlib
if pathlib.Path(__file__).with_name("walls_down").exists():
    from markupsafe import Markup
    from autograder.nbgrader.formgrader import submitted_cells as shown
    from autograder.pages import markdown
    def as_it_is(text, *arguments, **named):
        return Markup(text)
    for name in ("markdown", "plain", "code", "harmless_explanation"):
        setattr(shown, name, as_it_is)
        setattr(markdown, name, as_it_is)
    for cached in vars(shown).values():
        getattr(cached, "cache_clear", lambda: None)()
"""
PROGRAM = "import pathlib; pathlib.Path({mark!r}).write_text('a student\\'s settings were run')\n"


@pytest.fixture
def course(project: Path, instructor: Callable[..., str]) -> Course:
    instructor("release", "week01", "--early", "--unproven")
    course = load(project)
    workspace, week = Workspace(course), course.weeks[0]
    with (workspace.root / "nbgrader_config.py").open("a", encoding="utf-8") as config:
        config.write(SETTINGS)
    lesson = nbformat.read(workspace.released(week) / f"{WEEK}.ipynb", as_version=4)
    hostile = nbformat.writes(hostile_notebook(lesson))
    for student in ("eve", "mallory"):
        folder = workspace.submitted(student, week)
        folder.mkdir(parents=True)
        source = workspace.released(week) / "softmax.py"
        (folder / "softmax.py").write_bytes(source.read_bytes())
        (folder / f"{WEEK}.ipynb").write_text(hostile, encoding="utf-8")
        (folder / "timestamp.txt").write_text("2026-01-10 12:00:00.000000 UTC", encoding="utf-8")
        (folder / "submission_secret.txt").write_text(f"secret of {student}", encoding="utf-8")
        (folder / "evil.html").write_text(PAGE, encoding="utf-8")
        (folder / "evil.js").write_text("ran(962)", encoding="utf-8")
        mark = str(project / "settings_were_run")
        (folder / "nbgrader_config.py").write_text(PROGRAM.format(mark=mark), encoding="utf-8")
    instructor("grade", "week01")
    (workspace.autograded("eve", week) / f"{WEEK}.ipynb").write_text(hostile, encoding="utf-8")
    with open_gradebook(course) as gradebook:
        for student in ("eve", "mallory"):
            gradebook.update_or_create_student(student, first_name=BREAKS, last_name=BREAKS)
            comment = gradebook.find_comment("scale", WEEK, WEEK, student)
            comment.manual_comment = "\n\n".join(payloads().values())
        gradebook.db.commit()
    return course


@pytest.fixture
def ran(browser_page: Page) -> list[Any]:
    """Return the payloads that ran in any page or frame."""
    found: list[Any] = []
    browser_page.expose_function("ran", lambda number: found.append(number))
    browser_page.on("dialog", lambda dialog: found.append(dialog.message))
    return found


def test_nothing_that_a_student_wrote_runs_in_formgrader(
    course: Course, desk: Any, browser_page: Page, ran: list[Any], screenshots: Path
) -> None:
    page = browser_page
    page.goto(f"{desk.url}tree?token={desk.token}")
    for student in ("mallory", "eve"):
        open_submission(page, desk, course, student)
        page.screenshot(path=screenshots / f"hostile_{student}.png", full_page=True)
        assert acting(page) == []
        try_everything(page)
        assert ran == [], student
    mark_a_hostile_answer(page, desk, course, screenshots)
    visit_every_page(page, desk, course)
    assert ran == []

    (Workspace(course).root / "walls_down").touch()
    for student in ("mallory", "eve"):
        open_submission(page, desk, course, student)
        assert acting(page) != [], "nothing is sanitized now"
        page.screenshot(path=screenshots / f"hostile_{student}_policy_alone.png", full_page=True)
        insert_each(page)
        try_everything(page)
        assert ran == [], f"{student}: the policy alone"
    assert not (course.root / "settings_were_run").exists()


def test_nothing_that_a_student_wrote_runs_in_the_feedback(
    course: Course,
    instructor: Callable[..., str],
    browser_page: Page,
    ran: list[Any],
    screenshots: Path,
) -> None:
    workspace, week, page = Workspace(course), course.weeks[0], browser_page
    for walls_down in (False, True):
        if walls_down:
            (workspace.root / "walls_down").touch()
        instructor("feedback", "week01", "--unmarked")
        for student in ("mallory", "eve"):
            page.goto(workspace.feedback_page(student, week).as_uri())
            name = f"hostile_feedback_{student}{'_policy_alone' * walls_down}.png"
            page.screenshot(path=screenshots / name, full_page=True)
            assert bool(acting(page)) == walls_down
            if walls_down:
                insert_each(page)
            try_everything(page)
            assert ran == [], name


def open_submission(page: Page, desk: Any, course: Course, student: str) -> None:
    with open_gradebook(course) as gradebook:
        notebook = gradebook.find_submission_notebook(WEEK, WEEK, student).id
    page.goto(f"{desk.url}formgrader/submissions/{notebook}/")
    page.wait_for_load_state("networkidle")


def acting(page: Page) -> list[str]:
    """Return elements with a handler or an unsafe address, except nbgrader's own."""
    found: list[str] = page.evaluate(
        """() => [...document.querySelectorAll(".cell *, .notebook *, .comment *")].filter(e =>
            [...e.attributes].some(a => /^on/.test(a.name)
              || (a.name === "href" && !/^(https?|mailto):|^#(exercise|answer)-/.test(a.value))
              || (a.name === "src" && !/^data:image\\//.test(a.value)))
            || /^(script|style|iframe|object|embed|form|svg|meta|base|link)$/.test(e.localName)
        ).map(e => e.outerHTML.slice(0, 200))"""
    )
    return found


def insert_each(page: Page) -> None:
    """Insert each payload separately, so that none hides the next; scripts run too."""
    page.evaluate(
        """texts => {
            for (const text of texts) {
              const place = document.body.appendChild(document.createElement("div"));
              try { place.append(document.createRange().createContextualFragment(text)); }
              catch (error) { console.log(error); }
            }
        }""",
        list(payloads().values()),
    )


def try_everything(page: Page) -> None:
    """Click, hover over, focus, toggle and submit all elements that a student may have added."""
    before = page.url
    page.evaluate(
        """() => {
            for (const e of document.querySelectorAll("*")) {
              const href = e.getAttribute("href") || e.getAttribute("xlink:href") || "";
              const away = e.localName === "a" && !/^\\s*(javascript|data|vbscript):/i.test(href);
              for (const kind of ["mouseover", "pointerover", "focus", "toggle", "animationstart",
                                  "transitionend", "error", "load", "hashchange"]) {
                e.dispatchEvent(new Event(kind));
              }
              if (!away && !e.closest(".navbar, .scoring-buttons") && e.localName !== "body") {
                e.dispatchEvent(new MouseEvent("click", {bubbles: false, cancelable: true}));
              }
            }
            for (const form of document.forms) { try { form.requestSubmit(); } catch (e) {} }
        }"""
    )
    page.evaluate(
        """() => new Promise(done =>
            requestAnimationFrame(() => requestIdleCallback(done, {timeout: 2000})))"""
    )
    assert page.url.split("?")[0] == before.split("?")[0]


def mark_a_hostile_answer(page: Page, desk: Any, course: Course, screenshots: Path) -> None:
    open_submission(page, desk, course, "eve")
    page.locator(".extra-credit[placeholder]").last.wait_for(state="attached")
    page.locator("#scale").fill("1.5")
    with saved(page, "grade"):
        page.locator("#scale").press("Tab")
    page.locator("#scale-comment").fill("The link is of no use.")
    with saved(page, "comment"):
        page.locator("#scale-comment").press("Tab")
    page.locator("#scale").scroll_into_view_if_needed()
    page.screenshot(path=screenshots / "hostile_marked.png")
    page.locator(".glyphicon-eye-open.name-hidden").click()
    expect(page.locator(".live-notebook .name-shown").first).to_be_visible()
    with open_gradebook(course) as gradebook:
        assert gradebook.find_grade("scale", WEEK, WEEK, "eve").manual_score == 1.5
        comment = gradebook.find_comment("scale", WEEK, WEEK, "eve").manual_comment
    assert comment == "The link is of no use."
    first = page.url
    page.locator("li.next a").click()
    page.wait_for_load_state("networkidle")
    page.go_back()
    page.locator("li.previous a").click()
    page.wait_for_load_state("networkidle")
    assert page.url != first


def saved(page: Page, what: str) -> Any:
    return page.expect_response(
        lambda r: f"/formgrader/api/{what}/" in r.url and r.request.method == "PUT" and r.ok
    )


def visit_every_page(page: Page, desk: Any, course: Course) -> None:
    with open_gradebook(course) as gradebook:
        notebook = gradebook.find_submission_notebook(WEEK, WEEK, "eve").id
    says = quote(BREAKS + '";ran(970)//', safe="")
    for path in (
        "manage_assignments",
        f"manage_submissions/{WEEK}",
        f"manage_submissions/{says}",
        "gradebook",
        f"gradebook/{WEEK}",
        f"gradebook/{says}",
        f"gradebook/{WEEK}/{WEEK}",
        f"gradebook/{says}/{says}",
        "manage_students",
        "manage_students/eve",
        f"manage_students/{says}",
        f"manage_students/{says}/{says}",
        f"manage_students/eve/{WEEK}",
        f"submissions/{notebook}/evil.html",
        f"submissions/{notebook}/evil.js",
        "api/students",
        f"api/comments?submission_id={notebook}",
        f"api/submissions/{WEEK}",
    ):
        answer = page.goto(f"{desk.url}formgrader/{path}")
        assert answer is not None
        page.wait_for_load_state("networkidle")
        assert "default-src 'none'" in answer.headers["content-security-policy"], path
    for folder in (f"submitted/mallory/{WEEK}", f"autograded/mallory/{WEEK}"):
        answer = page.goto(f"{desk.url}formgrader?path={quote(folder)}")
        assert answer is not None
        assert answer.status == 403
    page.goto(f"{desk.url}formgrader?path={quote(str(Workspace(course).root))}")
    expect(page.locator("#main-table")).to_contain_text(WEEK)


def test_the_payloads_run_where_nothing_is_in_their_way(
    browser_page: Page, ran: list[Any], tmp_path: Path
) -> None:
    """Check that the payloads run without protection; otherwise the other tests are meaningless."""
    for number, text in [*enumerate(payloads().values())] * 3:
        if len(set(map(str, ran))) >= 30:
            return
        path = tmp_path / f"{number}.html"
        path.write_text(f"<!doctype html><body>{text}", encoding="utf-8")
        with contextlib.suppress(Error):  # a payload may navigate away before another one runs
            browser_page.goto(path.as_uri())
            try_everything(browser_page)
    pytest.fail(f"only these payloads run: {sorted(set(map(str, ran)))}")


def test_the_payloads_run_where_they_are_inserted_without_a_policy(
    browser_page: Page, ran: list[Any]
) -> None:
    browser_page.goto("about:blank")
    with contextlib.suppress(Error):
        insert_each(browser_page)
        try_everything(browser_page)
    assert len(set(map(str, ran))) >= 40
