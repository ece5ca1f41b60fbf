"""Only the learner's browser may use the pages, and solutions open only on purpose."""

from __future__ import annotations

from pathlib import Path

import pytest
from starlette.testclient import TestClient

from autograder.learn.learner_record import LearnerFolder
from autograder.model.course import Week
from tests.learn.conftest import PORT
from tests.learn.notebook import answer
from tests.nbgrader.tiny_course import graded

SOLUTION = "twice_the_number_that_came_in"


@pytest.mark.parametrize(
    "path", ["/", "/weeks/week01_tiny", "/static/page.js", "/wrong/", "/ключ/"]
)
def test_without_the_key_nothing_is_shown(stranger: TestClient, path: str) -> None:
    answered = stranger.get(path)
    assert answered.status_code == 404
    assert "autograder learn" in answered.text
    assert "Doubling" not in answered.text


def test_another_learner_has_a_different_key(learner: LearnerFolder, tmp_path: Path) -> None:
    other = LearnerFolder(learner.course, tmp_path / "other")
    assert LearnerFolder(learner.course, learner.path).key == learner.key != other.key
    assert len(learner.key) >= 32
    assert (learner.state / "key").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("host", ["evil.example", f"evil.example:{PORT}", ""])
def test_a_name_that_points_to_this_machine_is_refused(browser: TestClient, host: str) -> None:
    assert browser.get("/", headers={"host": host}).status_code == 400


def test_the_key_is_not_sent_to_other_sites(browser: TestClient) -> None:
    headers = browser.get("/").headers
    assert headers["referrer-policy"] == "same-origin"
    assert "default-src 'none'" in headers["content-security-policy"]


@pytest.mark.parametrize(
    "origin", ["https://evil.example", "http://127.0.0.1:1", "null", "", f"http://evil:{PORT}"]
)
def test_a_form_of_another_site_changes_nothing(
    browser: TestClient, learner: LearnerFolder, week: Week, origin: str
) -> None:
    path = f"/weeks/{week.name}/tasks/double/give-up"
    assert browser.post(path, headers={"origin": origin}).status_code == 404
    assert learner.record(week).given_up == []


def test_a_solution_is_closed_until_the_exercise_is_given_up(
    browser: TestClient, learner: LearnerFolder, week: Week
) -> None:
    page = f"/weeks/{week.name}/solution/double"
    closed = browser.get(page)
    assert closed.status_code == 422
    assert SOLUTION not in closed.text
    given_up = browser.post(f"/weeks/{week.name}/tasks/double/give-up")
    assert given_up.headers["location"].endswith(page)
    assert SOLUTION in browser.get(page).text
    assert learner.record(week).given_up == ["double"]


def test_a_solution_opens_when_the_exercise_passes(
    browser: TestClient, learner: LearnerFolder, week: Week
) -> None:
    learner.add_report(week, graded("you", 2.0, 0.0))
    assert SOLUTION in browser.get(f"/weeks/{week.name}/solution/double").text
    assert browser.get(f"/weeks/{week.name}/solution/halve").status_code == 422


def test_a_solution_is_shown_beside_a_module_that_python_cannot_read(
    browser: TestClient, learner: LearnerFolder, week: Week
) -> None:
    learner.week(week).module.write_text("def double(:\n")
    browser.post(f"/weeks/{week.name}/tasks/double/give-up")
    assert "Python cannot read your file" in browser.get(f"/weeks/{week.name}/solution/double").text


def test_a_model_answer_needs_an_answer_first(
    browser: TestClient, learner: LearnerFolder, week: Week
) -> None:
    page, model = f"/weeks/{week.name}", "a number and itself once more"
    browser.post(f"{page}/tasks/why/open")
    browser.post(f"{page}/tasks/why/assess", data={"met": "0"})
    assert model not in browser.get(page).text
    assert learner.record(week).met == {}
    answer(learner.week(week).path / f"{week.name}.ipynb", "why", "Because.")
    browser.post(f"{page}/tasks/why/open")
    assert model in browser.get(page).text
    browser.post(f"{page}/tasks/why/assess", data={"met": ["0", "7", "x"]})
    assert learner.record(week).met == {"why": [0]}
    assert "2 of 3" in browser.get(page).text


def test_a_question_given_up_earns_nothing(
    browser: TestClient, learner: LearnerFolder, week: Week
) -> None:
    page = f"/weeks/{week.name}"
    browser.post(f"{page}/tasks/why/give-up")
    browser.post(f"{page}/tasks/why/assess", data={"met": "0"})
    assert "You gave this question up" in browser.get(page).text
    assert "Given up: <code>why</code>" in browser.get("/").text
    assert "0 of 6 points" in browser.get("/").text


def test_hints_are_shown_one_at_a_time(browser: TestClient, week: Week) -> None:
    page = f"/weeks/{week.name}"
    assert "Add it to itself." not in browser.get(page).text
    browser.post(f"{page}/tasks/double/hint")
    assert "Add it to itself." in browser.get(page).text


def test_a_deleted_module_is_reported_and_restored_on_request(
    browser: TestClient, learner: LearnerFolder, week: Week
) -> None:
    module, page = learner.week(week).module, f"/weeks/{week.name}"
    stub = module.read_text()
    module.unlink()
    assert "<code>doubling.py</code> is missing." in browser.get(page).text
    browser.post(f"{page}/tasks/{week.module}/restore")
    assert module.read_text() == stub


@pytest.mark.parametrize(
    "path",
    [
        "/weeks/week02_none",
        "/weeks/{}/lab/{}.ipynb",
        "/figures/..%2fkey",
        "/figures/%2e%2e/key",
        "/static/x/learn.css",
    ],
)
def test_other_addresses_do_not_exist(browser: TestClient, week: Week, path: str) -> None:
    assert browser.get(path.format(week.name, week.name)).status_code == 404
