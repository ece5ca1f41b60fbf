"""Test twelve simultaneous submissions on the web page while the instructor reads the results.

axe-core checks each page; with AUTOGRADER_SCREENSHOTS, screenshots are stored.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from autograder.model.course import Course, load
from autograder.model.course.bank import Bank
from autograder.nbgrader.demo import module_of, sample_class
from autograder.nbgrader.gradebook.database import read_gradebook
from tests.serve.running import Running, running, until

ROOT = Path(__file__).resolve().parents[2]
AXE = ROOT / ".venv" / "axe" / "node_modules" / "axe-core" / "axe.min.js"
WEEK = "week01_softmax"
PHONE = {"width": 390, "height": 844}


@pytest.fixture
def served(project: Path, instructor: Any) -> Iterator[Running]:
    """Start the service for a class of twelve, with a short time limit for endless loops."""
    path = project / "course.yaml"
    registry = yaml.safe_load(path.read_text("utf-8"))
    registry["limits"] |= {"exercise_seconds": 10}
    registry["immediate"] = {"show": "verdicts", "tries": 10}
    path.write_text(yaml.safe_dump(registry), "utf-8")
    instructor("release", "week01", "--early", "--unproven")
    roster = project / "class.csv"
    names = [p.name for p in sample_class(load(project))]
    roster.write_text("student,name\n" + "".join(f"{n},{n}\n" for n in names), "utf-8")
    instructor("roster", str(roster))
    with running(Running(project)) as service:
        yield service


class Person:
    """A user with a separate browser session; records the errors in its console."""

    def __init__(self, browser: Any, url: str, **options: Any) -> None:
        self.context = browser.new_context(base_url=url, **options)
        self.context.add_init_script(path=str(AXE))
        self.page = self.context.new_page()
        self.page.set_default_timeout(120_000)
        self.errors: list[str] = []
        self.page.on("console", self._heard)

    def _heard(self, message: Any) -> None:
        if message.type == "error":
            self.errors.append(message.text)

    def enter(self, token: str) -> None:
        self.page.goto("/")
        self.page.get_by_label("Token").fill(token)
        self.page.get_by_role("button", name="Sign in").click()

    def choose(self, **files: str) -> None:
        """Choose files by name without extension and continue to the list of changes."""
        self.page.goto(f"/weeks/{WEEK}")
        kinds = {"softmax": ".py", WEEK: ".ipynb"}
        work = [
            {"name": name + kinds[name], "mimeType": "text/plain", "buffer": text.encode()}
            for name, text in files.items()
        ]
        self.page.set_input_files("#files", work)
        self.page.get_by_role("button", name="Continue").click()

    def hand_in(self, source: str) -> None:
        self.choose(softmax=source)
        self.page.wait_for_selector("h2:has-text('Check before you submit')")
        if (submit := self.page.get_by_role("button", name="Submit")).count():
            submit.click()

    def shown(self) -> str:
        return str(self.page.inner_text("main"))


def answered(project: Path, answer: str) -> str:
    """Return the released notebook with the first written answer filled in."""
    path = project / "nbgrader" / "release" / WEEK / f"{WEEK}.ipynb"
    notebook = json.loads(path.read_text("utf-8"))
    cells = (c for c in notebook["cells"] if c["cell_type"] == "markdown")
    first = next(c for c in cells if c["metadata"].get("nbgrader", {}).get("solution"))
    first["source"] = answer
    return json.dumps(notebook)


def points(project: Path) -> float:
    """Return ada's points in the gradebook."""
    _, entries = read_gradebook(load(project))
    return next((e.score for e in entries if e.student == "ada" and e.graded), 0.0)


def scrolls_sideways(page: Any) -> bool:
    return bool(page.evaluate("document.documentElement.scrollWidth > innerWidth"))


def complaints(page: Any) -> list[str]:
    """Return the violations that axe-core finds on a page, without its best-practice rules."""
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    return [f"{v['id']}: {v['nodes'][0]['html'][:120]}" for v in found["violations"]]


def kept(page: Any, name: str) -> None:
    folder = os.environ.get("AUTOGRADER_SCREENSHOTS")
    if folder:
        Path(folder).mkdir(parents=True, exist_ok=True)
        page.screenshot(path=str(Path(folder) / f"{name}.png"), full_page=True)


@pytest.fixture
def modules(project: Path) -> dict[str, str]:
    """Return the modules that each of twelve students submits."""
    course: Course = load(project)
    bank = Bank(course, course.weeks[0])
    return {pupil.name: module_of(bank, pupil) for pupil in sample_class(course)}


def test_a_class_of_twelve_hands_in_at_once(
    served: Running, chromium: Any, modules: dict[str, str]
) -> None:
    assert AXE.is_file(), f"npm install --prefix {AXE.parents[2]} axe-core"
    tokens = served.tokens()
    assert len(tokens) == 12
    people = {
        name: Person(chromium, served.url, **({"viewport": PHONE} if number % 2 else {}))
        for number, name in enumerate(tokens)
    }
    first = next(iter(people.values()))
    first.page.goto("/")
    kept(first.page, "enter")
    assert complaints(first.page) == []
    for name, person in people.items():
        person.enter(tokens[name])
        person.page.wait_for_selector("h1:has-text('Your weeks')")
    kept(first.page, "home")
    assert complaints(first.page) == []
    for name, person in people.items():
        person.hand_in(modules[name])
    watching = list(people.values())[-1]
    watching.page.wait_for_selector("#words")
    kept(watching.page, "waiting-phone")
    assert complaints(watching.page) == []
    prof = Person(chromium, served.url)
    prof.enter(served.tokens("--instructor", "prof")["prof"])
    prof.page.wait_for_selector("h1:has-text('Live class view')")
    kept(prof.page, "class-busy")
    for name, person in people.items():
        if person.page.url.endswith("/review"):
            assert "This cannot be submitted" in person.shown()
            continue
        person.page.wait_for_selector("#words:text-matches('^Graded')")
        assert complaints(person.page) == [], name
        assert person.errors == [], name
        kept(person.page, f"result-{name}")
    prof.page.reload()
    kept(prof.page, "class")
    assert complaints(prof.page) == []
    assert "ada" in prof.shown()
    assert prof.errors == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_student_sees_what_is_kept_and_goes_back_to_a_better_submission(
    served: Running, chromium: Any, project: Path, modules: dict[str, str], scheme: str
) -> None:
    token = served.tokens("--student", "ada")["ada"]
    ada = Person(chromium, served.url, viewport=PHONE, color_scheme=scheme)
    ada.enter(token)
    ada.choose(softmax=modules["ada"], **{WEEK: answered(project, "Because.")})
    look(ada.page, f"review-first-{scheme}")
    ada.page.get_by_role("button", name="Submit").click()
    ada.page.wait_for_selector("#words:text-matches('^Graded')")
    look(ada.page, f"result-better-{scheme}")
    better = until(lambda: points(project))
    ada.choose(softmax=modules["ada"].replace("return", "return 0 *"))
    assert "kept from" in ada.shown()
    look(ada.page, f"review-kept-{scheme}")
    ada.page.get_by_role("button", name="Submit").click()
    ada.page.wait_for_selector("#words:text-matches('^Graded')")
    assert "were correct" in ada.shown()
    look(ada.page, f"result-lower-{scheme}")
    until(lambda: points(project) < better)
    ada.page.get_by_role("button", name="Go back to the submission").click()
    ada.page.wait_for_selector("text=This submission counts until")
    look(ada.page, f"result-restored-{scheme}")
    until(lambda: points(project) == better)
    ada.choose(softmax="def softmax(:")
    assert "This cannot be submitted" in ada.shown()
    look(ada.page, f"review-refused-{scheme}")
    ada.page.goto(f"/weeks/{WEEK}")
    look(ada.page, f"week-{scheme}")
    ada.page.set_input_files("#files", {"name": "softmax.py", "mimeType": "", "buffer": b"x"})
    assert f"Not chosen: {WEEK}.ipynb" in ada.shown()


def look(page: Any, name: str) -> None:
    """Take screenshots at phone and desktop width; the page must not overflow on the phone."""
    page.wait_for_load_state()
    assert not scrolls_sideways(page), name
    assert complaints(page) == [], name
    kept(page, f"{name}-phone")
    page.set_viewport_size({"width": 1280, "height": 900})
    kept(page, name)
    page.set_viewport_size(PHONE)


def test_everything_essential_works_without_script(
    served: Running, chromium: Any, modules: dict[str, str]
) -> None:
    ada = Person(chromium, served.url, java_script_enabled=False, viewport=PHONE)
    ada.enter(served.tokens("--student", "ada")["ada"])
    ada.hand_in(modules["ada"])
    ada.page.wait_for_selector("#words:text-matches('^Graded')")  # the page reloads itself
    assert "All requirements are met" in ada.shown()
    kept(ada.page, "result-no-script-phone")


def test_a_folder_is_dropped(served: Running, chromium: Any, modules: dict[str, str]) -> None:
    ada = Person(chromium, served.url)
    ada.enter(served.tokens("--student", "ada")["ada"])
    ada.page.goto(f"/weeks/{WEEK}")
    dropping = """async (source) => {
      const file = new File([source], 'softmax.py');
      const entry = {isFile: true, name: 'softmax.py', file: (done) => done(file)};
      let read = false;
      const folder = {isFile: false, name: 'week01_softmax', createReader: () => ({
        readEntries: (done) => { done(read ? [] : [entry]); read = true; }})};
      const event = new Event('drop', {cancelable: true});
      event.dataTransfer = {items: [{webkitGetAsEntry: () => folder}]};
      document.getElementById('drop').dispatchEvent(event);
    }"""
    ada.page.evaluate(dropping, modules["ada"])
    ada.page.get_by_role("button", name="Submit").click()
    ada.page.wait_for_selector("#words:text-matches('^Graded')")
    assert "All requirements are met" in ada.shown()
