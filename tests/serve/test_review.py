"""The review before submitting, and parts that are not submitted again."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Mapping

import msgspec
import pytest
from starlette.testclient import TestClient

from autograder.model.course import Course, Week
from autograder.model.report.schema import Ending, SubmissionReport, Verdict
from autograder.model.report.schema import TestReport as Ran
from autograder.nbgrader.autograde import recorder
from autograder.nbgrader.collect.history import read_history
from autograder.nbgrader.collect.submissions import accept, put_in_place
from autograder.serve import recording
from autograder.serve.grading_service import Service
from autograder.serve.recording import format_received
from autograder.serve.submissions.upload import unpacked
from autograder.serve.tables import recency
from autograder.serve.views.view_models import exchange_page
from tests.nbgrader.tiny_course import SOLUTION, WEEK, graded
from tests.serve.conftest import SignIn

MODULE, NOTEBOOK = "doubling.py", f"{WEEK}.ipynb"
OTHER = SOLUTION.replace("x + x", "2 * x")


def notebook(answer: str) -> bytes:
    """The week's notebook with the written answer."""
    about = {"grade": True, "solution": True, "grade_id": "why", "locked": False, "points": 3.0}
    about |= {"schema_version": 3, "task": False, "cell_type": "markdown"}
    cell = {
        "cell_type": "markdown",
        "id": "why",
        "metadata": {"nbgrader": about},
        "source": answer,
    }
    return json.dumps(
        {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    ).encode()


class Student:
    """A student's browser on the pages of a week."""

    def __init__(self, client: TestClient, key: str) -> None:
        self.client, self.key = client, {"key": key}

    def send(self, files: Mapping[str, bytes]) -> str:
        """Choose files; return the page that follows."""
        sent = [("files", (name, data)) for name, data in files.items()]
        answer = self.client.post(f"/weeks/{WEEK}/review", data=self.key, files=sent)
        if answer.status_code == 303:
            assert answer.headers["location"] == f"/weeks/{WEEK}/review"
            answer = self.client.get(answer.headers["location"])
        return answer.text

    def review(self) -> dict[str, str]:
        """What happens to each part."""
        answer = self.client.get(f"/weeks/{WEEK}/review", headers={"accept": "application/json"})
        return {line["name"]: line["fate"] for line in answer.json()["lines"]}

    def confirm(self) -> str:
        """Submit the draft; return the page of the submission."""
        answer = self.client.get(f"/weeks/{WEEK}/review", headers={"accept": "application/json"})
        digest = {"digest": answer.json()["digest"]}
        done = self.client.post(f"/weeks/{WEEK}/tries", data=self.key | digest)
        assert done.status_code == 303, done.text
        return str(done.headers["location"])

    def submit(self, files: Mapping[str, bytes]) -> str:
        self.send(files)
        return self.confirm()

    def page(self, path: str) -> str:
        return str(self.client.get(path).text)


@pytest.fixture
def ada(sign_in: SignIn) -> Student:
    client, person = sign_in("ada")
    return Student(client, person.form_key)


def passing(report: SubmissionReport) -> SubmissionReport:
    """The report with a test that passes in each exercise with full marks."""
    test = Ran("t[cpu]", Verdict.PASS, 1.0, claim="Any number.")
    exercises = tuple(
        msgspec.structs.replace(e, tests=e.tests or (test,)) for e in report.exercises
    )
    return msgspec.structs.replace(report, exercises=exercises)


Finish = Callable[[SubmissionReport], None]


@pytest.fixture
def finish(service: Service) -> Finish:
    """End the grading of the newest submission."""

    def finish(report: SubmissionReport) -> None:
        one = service.queue.claim()
        assert one is not None
        service.queue.finish(one, report, 0.1)

    return finish


@pytest.fixture
def show(course: Course) -> Callable[..., None]:
    """Set `immediate.show` and `counts` of the course."""

    def show(what: str, counts: str = "latest") -> None:
        path = course.root / "course.yaml"
        text = path.read_text("utf-8")
        path.write_text(f"{text}counts: {counts}\nimmediate: {{show: {what}}}\n", "utf-8")

    return show


def contents(service: Service) -> dict[str, bytes]:
    """The files of ada's newest submission."""
    return unpacked(service.queue.content(service.queue.of_student("ada", WEEK)[0].digest))


def test_nothing_is_submitted_before_the_student_confirms(ada, service) -> None:
    page = ada.send({MODULE: SOLUTION.encode()})
    assert "Check before you submit" in page
    assert service.queue.of_student("ada", WEEK) == []
    ada.confirm()
    assert len(service.queue.of_student("ada", WEEK)) == 1


def test_the_first_submission_shows_what_is_new_and_what_is_missing(ada) -> None:
    page = ada.send({MODULE: SOLUTION.encode()})
    assert ada.review() == {MODULE: "new", "Answer: why": "missing"}
    assert "Missing: why." in page


def test_the_module_alone_keeps_the_written_answers(ada, service) -> None:
    ada.submit({MODULE: SOLUTION.encode(), NOTEBOOK: notebook("Because.")})
    page = ada.send({MODULE: OTHER.encode()})
    assert ada.review() == {MODULE: "replaced", "Answer: why": "kept"}
    assert "Nothing is missing." in page
    assert "kept from" in page
    ada.confirm()
    assert contents(service)[MODULE] == OTHER.encode()
    assert b"Because." in contents(service)[NOTEBOOK]


def test_the_notebook_alone_keeps_the_module(ada, service) -> None:
    ada.submit({MODULE: SOLUTION.encode()})
    ada.send({NOTEBOOK: notebook("Because.")})
    assert ada.review() == {MODULE: "kept", "Answer: why": "new"}
    ada.confirm()
    assert contents(service)[MODULE] == SOLUTION.encode()


def test_a_notebook_without_any_module_says_what_is_missing_and_is_not_submitted(
    ada, service
) -> None:
    page = ada.send({NOTEBOOK: notebook("Because.")})
    assert "This cannot be submitted" in page
    assert f"{MODULE} is missing." in page
    assert ">Submit</button>" not in page
    key = {"digest": "0" * 64}
    ada.client.post(f"/weeks/{WEEK}/tries", data=ada.key | key)
    assert service.queue.of_student("ada", WEEK) == []


def test_what_cannot_be_graded_replaces_nothing(ada, service) -> None:
    ada.submit({MODULE: SOLUTION.encode()})
    page = ada.send({MODULE: b"def double(x:\n"})
    assert "This cannot be submitted" in page
    assert "stays as it is" in page
    assert len(service.queue.of_student("ada", WEEK)) == 1


def test_a_review_that_is_out_of_date_is_shown_again(ada, service, week) -> None:
    ada.submit({MODULE: SOLUTION.encode(), NOTEBOOK: notebook("Because.")})
    ada.send({MODULE: OTHER.encode()})
    seen = ada.client.get(f"/weeks/{WEEK}/review").text.split('name="digest" value="')[1][:64]
    service.submissions.submit("ada", week, {NOTEBOOK: notebook("I know why.")}, "command")
    answer = ada.client.post(f"/weeks/{WEEK}/tries", data=ada.key | {"digest": seen})
    assert answer.status_code == 409
    assert "Check again what this submission would change" in answer.text
    assert len(service.queue.of_student("ada", WEEK)) == 2


def test_a_second_click_leads_to_the_same_submission(ada, service) -> None:
    ada.send({MODULE: SOLUTION.encode()})
    answer = ada.client.get(f"/weeks/{WEEK}/review", headers={"accept": "application/json"})
    form = ada.key | {"digest": answer.json()["digest"]}
    first, second = (ada.client.post(f"/weeks/{WEEK}/tries", data=form) for _ in range(2))
    assert first.headers["location"] == second.headers["location"]
    assert len(service.queue.of_student("ada", WEEK)) == 1


def test_files_that_change_nothing_are_said_to(ada, service) -> None:
    ada.submit({MODULE: SOLUTION.encode(), NOTEBOOK: notebook("Because.")})
    assert "These files do not change your submission." in ada.send(
        {NOTEBOOK: notebook("Because.")}
    )
    ada.confirm()
    assert len(service.queue.of_student("ada", WEEK)) == 1


def test_a_zip_with_only_the_notebook_keeps_the_module(ada, service) -> None:
    ada.submit({MODULE: SOLUTION.encode()})
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr(f"{WEEK}/{NOTEBOOK}", notebook("Because."))
    ada.submit({"week.zip": stream.getvalue()})
    assert set(contents(service)) == {MODULE, NOTEBOOK}


def test_a_renamed_module_replaces_the_earlier_one(ada, service) -> None:
    ada.submit({MODULE: SOLUTION.encode()})
    page = ada.send({"doubling_final.py": OTHER.encode()})
    assert "was taken as doubling.py" in page
    ada.confirm()
    assert contents(service)[MODULE] == OTHER.encode()


def test_a_draft_is_its_students_alone(ada, sign_in) -> None:
    ada.send({MODULE: SOLUTION.encode()})
    eve, _ = sign_in("eve")
    assert eve.get(f"/weeks/{WEEK}/review").status_code == 303  # to the week: nothing was sent


@pytest.mark.parametrize(
    ("counts", "rule"), [("latest", "Your latest submission counts"), ("best", "Your best")]
)
def test_the_pages_say_which_submission_counts(ada, show, counts, rule) -> None:
    show("scores", counts)
    assert rule in ada.page(f"/weeks/{WEEK}")
    assert rule in ada.send({MODULE: SOLUTION.encode()})


def test_a_lower_score_is_reported_next_to_the_better_one(ada, show, finish) -> None:
    show("scores")
    better = ada.submit({MODULE: SOLUTION.encode()})
    finish(graded("ada", 2, 1))
    lower = ada.submit({MODULE: OTHER.encode()})
    finish(graded("ada", 0.5, 1))
    page = ada.page(lower)
    assert "This submission scored 1.5 of 3 points." in page
    assert "scored 3." in page
    assert f'action="{better}/restore"' in page
    assert "scored 1.5" not in ada.page(better)


def test_the_page_for_nbgrader_reports_a_lower_score_too(
    ada, show, finish, service, course, week
) -> None:
    show("scores")
    ada.submit({MODULE: SOLUTION.encode()})
    finish(graded("ada", 2, 1))
    lower = ada.submit({MODULE: OTHER.encode()})
    finish(graded("ada", 0.5, 1))
    view = service.views.submission(service.queue.find(lower.rsplit("/", 1)[1]))
    page = exchange_page(course, week, view)
    assert "This submission scored 1.5 of 3 points." in page
    assert "Your latest submission counts" in page


def test_where_points_are_hidden_a_lower_result_is_reported_by_exercises(ada, show, finish) -> None:
    show("verdicts")
    ada.submit({MODULE: SOLUTION.encode()})
    finish(passing(graded("ada", 2, 1)))
    lower = ada.submit({MODULE: OTHER.encode()})
    finish(passing(graded("ada", 0.5, 1)))
    page = ada.page(lower)
    assert "1 of 2 exercises are correct in this submission." in page
    assert "points" not in page


@pytest.mark.parametrize("what", ["names", "nothing"])
def test_where_results_are_hidden_nothing_is_compared(ada, show, finish, what) -> None:
    show(what)
    ada.submit({MODULE: SOLUTION.encode()})
    finish(graded("ada", 2, 1))
    lower = ada.submit({MODULE: OTHER.encode()})
    finish(graded("ada", 0, 0))
    answer = ada.client.get(lower, headers={"accept": "application/json"}).json()
    assert answer["better"] is None


def test_going_back_takes_no_attempt_and_keeps_the_time(ada, show, finish, service, week) -> None:
    show("scores")
    better = ada.submit({MODULE: SOLUTION.encode()})
    finish(graded("ada", 2, 1))
    lower = ada.submit({MODULE: OTHER.encode()})
    finish(graded("ada", 0, 1))
    before = service.views.allowance("ada", week)
    received = service.queue.of_student("ada", WEEK)[1].received
    assert ada.client.post(f"{better}/restore", data=ada.key).status_code == 303
    assert "This submission counts until" in ada.page(better)
    assert "This submission counts until" not in ada.page(lower)
    assert service.views.allowance("ada", week).left == before.left
    assert service.queue.of_student("ada", WEEK)[1].received == received
    latest = max(service.queue.of_student("ada", WEEK), key=recency)
    assert latest.received == received


def test_a_new_submission_counts_after_a_restored_one(ada, show, finish) -> None:
    show("scores")
    better = ada.submit({MODULE: SOLUTION.encode()})
    finish(graded("ada", 2, 1))
    ada.submit({MODULE: OTHER.encode()})
    finish(graded("ada", 0, 1))
    ada.client.post(f"{better}/restore", data=ada.key)
    newest = ada.submit({MODULE: OTHER.encode() + b"# again\n"})
    finish(graded("ada", 1, 1))
    assert "This submission counts until" in ada.page(newest)


def test_nobody_restores_a_submission_of_another_student(ada, show, finish, sign_in) -> None:
    show("scores")
    better = ada.submit({MODULE: SOLUTION.encode()})
    finish(graded("ada", 2, 1))
    ada.submit({MODULE: OTHER.encode()})
    finish(graded("ada", 0, 1))
    eve, person = sign_in("eve")
    answer = eve.post(f"{better}/restore", data={"key": person.form_key})
    assert answer.status_code == 404


def test_a_refused_submission_is_never_called_graded(ada, finish, week: Week) -> None:
    ada.submit({MODULE: SOLUTION.encode()})
    finish(graded("ada", 2, 1))
    refused = ada.submit({MODULE: OTHER.encode()})
    report = SubmissionReport("ada", Ending.REFUSED, 0.0, 3.0, 0.0, "doubling.py is empty.", ())
    finish(report)
    page = ada.page(refused)
    assert "Not accepted" in page
    assert "Graded" not in page
    assert "doubling.py is empty." in page
    assert "your earlier submission stays" in page
    assert "written answers will be part of your next submission" in page
    assert "counts" in ada.page(f"/weeks/{WEEK}").split("</thead>")[1].split("</tr>")[1]


def test_a_submission_that_was_replaced_by_a_refused_one_is_graded_after_all(
    ada, finish, service, week
) -> None:
    ada.submit({MODULE: SOLUTION.encode(), NOTEBOOK: notebook("Because.")})
    ada.submit({MODULE: OTHER.encode() + b"import nothing_like_it\n"})
    assert [one.state for one in service.queue.of_student("ada", WEEK)] == ["waiting", "replaced"]
    refused = SubmissionReport("ada", Ending.REFUSED, 0.0, 3.0, 0.0, "It does not run.", ())
    finish(refused)
    assert [one.state for one in service.queue.of_student("ada", WEEK)] == ["graded", "waiting"]
    assert service.submissions.base("ada", week).files[MODULE] == SOLUTION.encode()
    ada.submit({MODULE: OTHER.encode() + b"import nothing_again\n"})
    finish(refused)
    assert [one.state for one in service.queue.of_student("ada", WEEK)] == [
        "graded",
        "graded",
        "waiting",
    ]


def test_the_answers_of_a_refused_submission_are_kept_for_the_next(ada, finish, service) -> None:
    ada.submit({MODULE: SOLUTION.encode(), NOTEBOOK: notebook("Because.")})
    finish(graded("ada", 2, 1))
    ada.submit({MODULE: b"import nothing_like_it\n", NOTEBOOK: notebook("I know why.")})
    finish(SubmissionReport("ada", Ending.REFUSED, 0.0, 3.0, 0.0, "It does not run.", ()))
    ada.submit({MODULE: OTHER.encode()})
    assert contents(service)[MODULE] == OTHER.encode()
    assert b"I know why." in contents(service)[NOTEBOOK]


def test_the_form_asks_for_both_files(ada) -> None:
    page = ada.page(f"/weeks/{WEEK}")
    assert f"<code>{MODULE}</code> and <code>" in page


def test_a_week_without_questions_asks_for_the_module_only(ada, service, week) -> None:
    bare = msgspec.structs.replace(week, questions=())
    assert service.views.week("ada", bare).notebook == ""


def test_two_parts_that_arrive_at_once_are_both_kept(service, week, monkeypatch) -> None:
    service.submissions.submit("ada", week, {MODULE: SOLUTION.encode()}, "page")
    add, others = service.queue.add, [{NOTEBOOK: notebook("Because.")}]

    def meanwhile(*arguments, **options):
        if others:
            service.submissions.submit("ada", week, others.pop(), "command")
        return add(*arguments, **options)

    monkeypatch.setattr(service.queue, "add", meanwhile)
    service.submissions.submit("ada", week, {MODULE: OTHER.encode()}, "page")
    assert contents(service)[MODULE] == OTHER.encode()
    assert b"Because." in contents(service)[NOTEBOOK]


@pytest.fixture
def recorded(ada, show, finish, service, course, week) -> list[str]:
    """Pages of two graded submissions, the later one worse, both in the records."""
    show("scores")
    pages = []
    for points, source in ((2, SOLUTION), (0, OTHER)):
        pages.append(ada.submit({MODULE: source.encode()}))
        finish(graded("ada", points, 1))
        one = service.queue.find(pages[-1].rsplit("/", 1)[1])
        files = unpacked(service.queue.content(one.digest))
        accept(course, week, "ada", files, format_received(one.received), "service", whole=True)
    return pages


def test_what_the_instructor_restored_counts_and_is_built_on(
    ada, recorded, service, course, week
) -> None:
    better, lower = recorded
    assert "This submission counts until" in ada.page(lower)
    put_in_place(course, week, "ada", 1, restored=True)
    assert "This submission counts until" in ada.page(better)
    assert "This submission counts until" not in ada.page(lower)
    assert service.submissions.base("ada", week).files[MODULE] == SOLUTION.encode()


def test_what_was_collected_later_is_built_on(recorded, service, course, week) -> None:
    newer = {MODULE: SOLUTION.encode() + b"# from Moodle\n"}
    accept(course, week, "ada", newer, "2090-01-01 12:00:00.000000 UTC", "download")
    assert service.submissions.base("ada", week).files[MODULE] == newer[MODULE]


def test_a_collected_submission_is_not_called_missing(ada, course, week) -> None:
    assert "You have not submitted it yet." in ada.page("/")
    files = {MODULE: SOLUTION.encode()}
    accept(course, week, "ada", files, "2026-01-05 12:00:00.000000 UTC", "exchange")
    home = ada.page("/")
    assert "You have not submitted it yet." not in home
    assert "Your submission from Monday 5 January, 1" in home
    assert "has been collected." in home
    assert "are kept from your earlier submission" in ada.page(f"/weeks/{WEEK}")


def test_a_student_has_one_draft_and_for_a_day(service, clock) -> None:
    service.drafts.clock = clock
    for text in (b"a", b"b"):
        service.drafts.store("ada", WEEK, {MODULE: text}, ["notes.docx"])
    found = service.drafts.find("ada", WEEK)
    assert found == ({MODULE: b"b"}, ["notes.docx"])
    clock.now += 90_000
    service.drafts.store("eve", WEEK, {MODULE: b"c"}, [])
    assert service.drafts.find("ada", WEEK) is None


@pytest.fixture
def record(service, week, monkeypatch):
    """Return a function that records the graded submissions, but no score."""
    monkeypatch.setattr(recorder, "record", lambda *_: recorder.RecordedScores())
    course = service.courses.now
    parts = (course, service.queue, service.ledger, service.state.settings)
    return lambda: recording.record_submissions(*parts, "ada", week.name)


def test_a_restored_submission_counts_after_one_that_was_queued_before(
    ada, show, finish, service, week, record
) -> None:
    show("scores")
    better = ada.submit({MODULE: SOLUTION.encode()})
    finish(graded("ada", 2, 1))
    record()
    ada.submit({MODULE: OTHER.encode()})
    service.queue.restore(better.rsplit("/", 1)[1])
    finish(graded("ada", 0, 1))
    record()
    assert read_history(service.courses.now, week, "ada").current == 1


def test_a_recorded_restore_counts_if_the_best_submission_counts(
    ada, show, finish, service, record
) -> None:
    show("scores", "best")
    better = ada.submit({MODULE: SOLUTION.encode()})
    finish(graded("ada", 2, 1))
    ada.submit({MODULE: OTHER.encode()})
    finish(graded("ada", 0, 1))
    record()
    service.queue.restore(better.rsplit("/", 1)[1])
    record()
    answer = ada.client.get(better, headers={"accept": "application/json"}).json()
    assert answer["counts"]


def test_which_submission_is_best_is_not_told_while_points_are_hidden(
    ada, show, finish, record
) -> None:
    show("verdicts", "best")
    own = ada.submit({MODULE: SOLUTION.encode()})
    finish(graded("ada", 2, 1))
    record()
    answer = ada.client.get(own, headers={"accept": "application/json"}).json()
    assert not answer["counts"]
