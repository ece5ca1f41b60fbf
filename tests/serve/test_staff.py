"""Marking, the gradebook, regrade requests and extensions in the service, with real nbgrader."""

from __future__ import annotations

import datetime as dt
import html
import re
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from autograder.model.course import Course, Week, load
from autograder.nbgrader.autograde.recorder import record
from autograder.nbgrader.gradebook.database import read_gradebook, read_hand_marks
from autograder.nbgrader.gradebook.due_dates import update_dates
from autograder.nbgrader.gradebook.final_scores import final_scores
from autograder.nbgrader.publish_feedback import return_feedback
from autograder.nbgrader.regrade.regrade_log import read_request
from autograder.nbgrader.workspace import Workspace, open_gradebook
from autograder.serve.login import Person
from tests.nbgrader.tiny_course import SOLUTION, WEEK, graded, report
from tests.serve.conftest import SignIn
from tests.serve.graded_class import hand_in, write_graded_class
from tests.serve.running import until

PATH = f"/marking/{WEEK}/why"
GROUPS = "group,student\nred,ada\nred,eve\n"


@pytest.fixture(scope="session")
def graded_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("graded") / "course"
    write_graded_class(root)
    return root


@pytest.fixture
def course(tmp_path: Path, graded_once: Path) -> Course:
    shutil.copytree(graded_once, tmp_path / "course")
    return load(tmp_path / "course")


class Staff:
    """A browser of an instructor, an assistant or a student, which fills in forms."""

    def __init__(self, signed_in: tuple[TestClient, Person]) -> None:
        self.client, person = signed_in
        self.key = person.form_key

    def read(self, path: str = PATH, status: int = 200) -> str:
        answer = self.client.get(path)
        assert answer.status_code == status, answer.text
        return html.unescape(answer.text)

    def send(self, path: str, status: int = 303, **fields: str) -> str:
        answer = self.client.post(path, data={"key": self.key} | fields)
        assert answer.status_code == status, answer.text
        return html.unescape(answer.text)

    def form(self, names: str, path: str = PATH) -> dict[str, str]:
        """Return the hidden fields of the card with this title."""
        (card,) = (c for c in self.read(path).split("<article")[1:] if f"<bdi>{names}</bdi>" in c)
        return {
            name: found[1]
            for name in ("code", "version")
            if (found := re.search(f'name="{name}" value="([^"]*)"', card))
        }

    def mark(self, names: str, status: int = 303, **fields: str) -> str:
        return self.send(PATH, status, **self.form(names) | fields)


@pytest.fixture
def bea(sign_in: SignIn) -> Staff:
    return Staff(sign_in("bea", "assistant"))


@pytest.fixture
def prof(sign_in: SignIn) -> Staff:
    return Staff(sign_in("prof", "instructor"))


@pytest.fixture
def ada(sign_in: SignIn) -> Staff:
    return Staff(sign_in("ada"))


@pytest.fixture
def result(service, week: Week) -> str:
    """Return the receipt of a graded submission by ada."""
    one, _ = service.submissions.submit("ada", week, {"doubling.py": SOLUTION.encode()}, "page")
    service.queue.finish(service.queue.claim(), graded("ada", 2, 1), 0.1)
    return str(one.receipt)


def marks(course: Course) -> dict[str, tuple[float | None, str, bool]]:
    """Return the score, comment and settledness of each student's answer in the gradebook."""
    found = read_hand_marks(course)[WEEK]
    cells = {s: m.cells["why"] for s, m in found.items() if "why" in m.cells}
    return {s: (c.score, c.comment, c.settled) for s, c in cells.items()}


# Marking


def test_equal_answers_are_marked_together_by_rubric_lines_that_add_up(bea, course) -> None:
    bea.mark("2 equal answers: ada, bob", line0="2", adjustment="-0,5", comment="Good <b>try</b>")
    same = (1.5, "Good <b>try</b>", True)
    assert marks(course) == {"ada": same, "bob": same}
    page = bea.read()
    assert "1.5 of 3, entered by bea on" in page
    assert re.search(r'name="line0"[^>]* checked', page)
    assert 'value="-0.5"' in page


def test_a_long_comment_in_any_script_is_stored(bea, course) -> None:
    bea.mark("cy", line0="2", comment="注" * 4000)
    assert marks(course)["cy"] == (2.0, "注" * 4000, True)


def test_equal_answers_can_be_marked_separately(bea, course) -> None:
    form = bea.form("bob", f"{PATH}?separately")
    bea.send(PATH, **form, adjustment="3")
    assert marks(course) == {"bob": (3.0, "", True)}
    assert bea.form("ada") != bea.form("bob"), "answers with different marks are apart"


def test_counts_say_what_is_left(bea) -> None:
    def counts() -> list[str]:
        return re.findall(r'class="number">(?:<strong>)?(\d+)', bea.read(f"/marking/{WEEK}"))

    assert counts() == ["3", "0", "1"]
    bea.mark("2 equal answers: ada, bob", line1="1")
    assert counts() == ["1", "2", "1"]


def test_the_feedback_and_the_export_contain_the_mark(bea, prof, course, week) -> None:
    bea.mark("2 equal answers: ada, bob", line0="2", comment="Well **said**.")
    bea.mark("cy", adjustment="0")
    return_feedback(course, week)
    page = Workspace(course).feedback_page("ada", week).read_text("utf-8")
    assert "Well <strong>said</strong>." in page
    assert "5 of 6 points" in page
    assert "ada,,,5" in prof.read("/gradebook/grades.csv")


def test_two_markers_do_not_overwrite_each_other(bea, prof, course) -> None:
    before = prof.form("cy")
    bea.mark("cy", line0="2", comment="bea's words")
    said = prof.send(PATH, 409, **before, line1="1", comment="prof's words")
    assert "has changed since you opened it. Your mark was not saved" in said
    assert "2 of 3, entered by bea" in said
    assert "prof's words" in said, "nothing that was typed is lost"
    assert marks(course)["cy"] == (2.0, "bea's words", True)


def test_of_two_markers_at_the_same_time_one_is_told(bea, prof, course) -> None:
    forms = [(who, who.form("cy") | {"key": who.key, "line0": "2"}) for who in (bea, prof)]
    with ThreadPoolExecutor() as pool:
        answers = list(pool.map(lambda one: one[0].client.post(PATH, data=one[1]), forms))
    assert sorted(a.status_code for a in answers) == [303, 409]
    assert marks(course)["cy"][0] == 2


def test_a_resubmission_while_the_page_is_open_is_not_marked_unread(bea, course, week) -> None:
    before = bea.form("cy")
    hand_in(course, "cy", "A new answer.", "2020-01-16 12:00:00.000000 UTC")
    record(course, week, report(graded("cy", 2, 1)))
    said = bea.send(PATH, 409, **before, line0="2")
    assert "A new answer." in said
    assert "cy" not in marks(course)


def test_a_marked_answer_that_changes_asks_for_another_look(bea, course, week) -> None:
    bea.mark("cy", line0="2")
    hand_in(course, "cy", "A new answer.", "2020-01-16 12:00:00.000000 UTC")
    record(course, week, report(graded("cy", 2, 1)))
    assert "The answer has changed since it was marked: 2 of 3" in bea.read()


def test_a_mark_of_formgrader_is_shown_and_not_taken_for_lines_of_the_rubric(bea, course) -> None:
    bea.mark("cy", line0="2")
    with open_gradebook(course) as gradebook:
        gradebook.find_grade("why", WEEK, WEEK, "cy").manual_score = 2.5
        gradebook.db.commit()
    page = bea.read(f"{PATH}?only={bea.form('cy')['code']}")
    assert 'value="2.5"' in page
    assert " checked" not in page


@pytest.mark.parametrize(
    ("fields", "what"),
    [
        ({"adjustment": "3.5"}, "3.5 is not between 0 and 3"),
        ({"adjustment": "-1"}, "-1 is not between 0 and 3"),
        ({"line0": "2", "line1": "1", "adjustment": "1"}, "4 is not between 0 and 3"),
        ({"adjustment": "nan"}, "is not a number"),
        ({"adjustment": "1e9"}, "is not a number"),
        ({"line7": "1"}, "The rubric has changed"),
        ({"line0": "1.5"}, "The rubric has changed"),
        ({}, "Choose lines of the rubric or enter points"),
    ],
)
def test_an_impossible_mark_is_refused(bea, course, fields: dict[str, str], what: str) -> None:
    assert what in bea.mark("cy", 422, **fields)
    assert marks(course) == {}


def test_forged_questions_codes_and_versions_enter_nothing(bea, course) -> None:
    form = bea.form("cy") | {"adjustment": "3"}
    for path in (f"/marking/{WEEK}/double", f"/marking/{WEEK}/nothing", "/marking/week99/why"):
        bea.send(path, 404, **form)
    bea.send(PATH, 409, **form | {"code": "00000000"})
    bea.send(PATH, 409, **form | {"version": "0" * 24})
    bea.send(PATH, 409, **form | {"version": ""})
    assert marks(course) == {}


def test_answers_and_comments_are_harmless_and_pictures_are_shown(bea) -> None:
    bea.mark("cy", line0="2", comment="</textarea><script>alert(3)</script>")
    page = bea.client.get(PATH).text
    assert "<script>alert" not in page
    assert "javascript:alert(2)" not in re.sub(r"\[x\]\(javascript:[^)]*\)", "", page)
    assert 'src="data:image/png;base64,' in page
    assert "Because a number and itself once more" in page, "the model answer"


def test_anonymous_marking_shows_no_name(bea, course) -> None:
    path = course.root / "course.yaml"
    path.write_text(path.read_text("utf-8") + "anonymous_marking: true\n", "utf-8")
    page = bea.read()
    assert "2 equal answers: Answer " in page
    assert not re.search(r"\b(ada|bob|cy|dan)\b", page)


# Roles


def test_an_assistant_changes_no_extensions_tokens_or_grades(bea, course) -> None:
    assert "<form" not in bea.read("/extensions").split("<h1>")[1]
    fields = {"student": "ada", "week": WEEK, "hours": "5", "reason": "ill"}
    bea.send("/extensions", 404, **fields)
    bea.send("/people", 404, name="eve", role="instructor")
    bea.read("/people", 404)
    bea.read("/gradebook/grades.csv", 404)
    assert read_hand_marks(course)[WEEK]["ada"].extension == 0


def test_a_student_marks_nothing(ada, bea, course) -> None:
    form = bea.form("cy") | {"adjustment": "3"}
    ada.send(PATH, 404, **form)
    ada.send(f"/requests/{WEEK}", 404, student="ada", text="Yes.", points="3")
    for path in (PATH, "/marking", "/gradebook", "/requests", "/extensions", "/people"):
        ada.read(path, 404)
    assert marks(course) == {}


def test_another_site_marks_nothing(bea, course) -> None:
    form = bea.form("cy") | {"adjustment": "3", "key": bea.key}
    headers = {"origin": "https://evil.example"}
    assert bea.client.post(PATH, data=form, headers=headers).status_code == 403
    assert bea.client.post(PATH, data=form | {"key": "0" * 64}).status_code == 403
    assert marks(course) == {}


def test_an_instructor_gives_a_role_and_ends_the_sessions_of_the_former(
    prof, service, sign_in
) -> None:
    student = Staff(sign_in("eve"))
    said = prof.send("/people", 200, name="eve", role="assistant")
    token = re.search(r"assistant: <code>([\w-]+)</code>", said)
    assert token is not None
    assert student.client.get("/").status_code == 303, "signed out"
    person = service.accounts.redeem(token[1], "browser")
    assert person is not None
    assert person.role == "assistant"
    prof.send("/people", 422, name="../x", role="assistant")
    prof.send("/people", 422, name="eve", role="admin")
    prof.send("/people", 422, name="prof", role="student")


# The gradebook


def test_the_gradebook_shows_penalties_missing_work_and_answers_to_mark(prof, course) -> None:
    page = prof.read("/gradebook")
    rows = {r.split("</bdi>")[0]: r for r in page.split('<tr><th scope="row"><bdi>')[1:]}
    assert list(rows) == ["ada", "bob", "cy", "dan", "eve"]
    assert "1 to mark" in rows["ada"]
    assert "late" in rows["cy"]
    assert "2.4" in rows["cy"], "two days late: 3 x 0.8"
    assert "missing" in rows["eve"]
    assert "<b>Adams" not in prof.client.get("/gradebook").text
    assert "4 of 5 students" in prof.read("/gradebook?only=late").replace("1 of 5", "4 of 5")
    filtered = prof.read("/gradebook?q=adams")
    assert ">eve<" in filtered
    assert ">ada<" not in filtered


def test_grades_with_unmarked_answers_are_not_exported(prof) -> None:
    assert "are not marked yet" in prof.read("/gradebook/grades.csv", 422)


# Feedback

RELEASE = f"/gradebook/{WEEK}/feedback"


def test_an_instructor_releases_the_feedback_of_a_week(prof, ada, course, service, week) -> None:
    assert "Released to 0 of 4 students" in prof.read("/gradebook")
    ada.read(f"/weeks/{WEEK}/feedback", 404)
    assert "3 answers by 3 students are not marked yet" in prof.send(RELEASE, 422)
    assert not service.feedback.running
    prof.send(RELEASE, unmarked="on")
    assert "is being released" in prof.send(RELEASE, 422, unmarked="on")
    until(lambda: not service.feedback.running)
    page = prof.read("/gradebook")
    assert "Released to 4 of 4 students" in page
    assert re.search(r"prof, .*: 0 of 4 pages are in nbgrader's exchange", page)
    assert "bob: not submitted through the exchange" in page
    assert "Not marked yet" in ada.read(f"/weeks/{WEEK}/feedback")


def test_an_assistant_sees_the_feedback_and_does_not_release_it(bea, ada, service, course) -> None:
    page = bea.read("/gradebook")
    assert "Released to 0 of 4 students" in page
    assert "Release feedback" not in page
    for person in (bea, ada):
        person.send(RELEASE, 404, unmarked="on")
    assert not service.feedback.running


# Extensions


def test_an_extension_counts_at_once_and_is_listed(prof, course, service) -> None:
    def penalty() -> float:
        return next(e.penalty for e in read_gradebook(course)[1] if e.student == "cy")

    update_dates(course)
    assert penalty() == pytest.approx(0.6)
    prof.send("/extensions", student="cy", week=WEEK, hours="72", until="", reason="ill <3")
    assert penalty() == 0
    page = prof.read("/extensions")
    assert "prof, " in page
    assert "ill <3" in page
    assert "16 January, 23:59" in page
    prof.send("/extensions", student="cy", week=WEEK, remove="1")
    assert penalty() == pytest.approx(0.6)
    assert "No extensions." in prof.read("/extensions")


def test_an_extension_before_the_submission_is_no_submission(prof, course) -> None:
    until = "2090-01-20T12:00"
    prof.send("/extensions", 422, student="eve", week=WEEK, until=until, reason="ill")
    prof.send("/extensions", student="eve", week=WEEK, until="2020-12-01T12:00", reason="ill")
    (entry,) = (e for e in read_gradebook(course)[1] if e.student == "eve")
    assert not entry.graded
    assert entry.extension > dt.timedelta(days=300)
    with open_gradebook(course) as gradebook:
        assert gradebook.find_submission(WEEK, "eve").timestamp is None
    assert "eve" not in final_scores(course, course.weeks[0])
    hand_in(course, "eve", "Later.", "2020-11-30 12:00:00.000000 UTC")
    record(course, course.weeks[0], report(graded("eve", 2, 1)))
    (entry,) = (e for e in read_gradebook(course)[1] if e.student == "eve")
    assert (entry.graded, entry.penalty, entry.score) == (True, 0.0, 3.0)


def test_an_extension_before_the_submission_survives_a_deleted_gradebook(prof, course) -> None:
    prof.send("/extensions", student="eve", week=WEEK, hours="48", reason="ill")
    (Workspace(course).root / "gradebook.db").unlink()
    record(course, course.weeks[0], report(graded("ada", 2, 1)))
    assert read_hand_marks(course)[WEEK]["eve"].extension == 48 * 3600


def test_a_group_gets_an_extension_together(prof, course) -> None:
    (course.root / "groups.csv").write_text(GROUPS, "utf-8")
    prof.send("/extensions", student="ada", week=WEEK, hours="5", reason="both ill", group="on")
    held = read_hand_marks(course)[WEEK]
    assert (held["ada"].extension, held["eve"].extension) == (18000, 18000)


@pytest.mark.parametrize(
    ("fields", "what"),
    [
        ({"student": "adda", "hours": "5"}, "did you mean 'ada'"),
        ({"hours": "-5"}, "number of hours"),
        ({"hours": "inf"}, "number of hours"),
        ({"until": "yesterday"}, "number of hours"),
        ({"until": "2019-01-01T00:00"}, "number of hours"),
        ({"hours": "5", "reason": " "}, "Give a reason"),
        ({"hours": "5", "week": "week99"}, "There is no such week"),
    ],
)
def test_a_slip_in_an_extension_is_explained(prof, fields: dict[str, str], what: str) -> None:
    all_fields = {"student": "ada", "week": WEEK, "reason": "ill"} | fields
    assert what in prof.send("/extensions", 422, **all_fields)


# Regrade requests


def test_a_request_is_answered_with_new_points_and_the_student_sees_it(
    ada, bea, result, course, week
) -> None:
    said = "My `halve` is right. <script>alert(1)</script>"
    ada.send(f"/weeks/{WEEK}/request", about="halve", text=said)
    assert "Not answered yet" in ada.read(f"/tries/{result}")
    page = bea.read("/requests")
    assert said in page
    assert "<script>alert" not in bea.client.get("/requests").text
    form = dict(re.findall(r'name="(student|asked|code|version)" value="([^"]*)"', page))
    bea.send(f"/requests/{WEEK}", 422, **form, text="No.", points="1.5")
    bea.send(f"/requests/{WEEK}", **form, text="You are nearly right.", points="0.5")
    assert "You are nearly right." in ada.read(f"/tries/{result}")
    request = read_request(course, week, "ada")
    assert request is not None
    assert request.answered_by == "bea"
    with open_gradebook(course) as gradebook:
        assert gradebook.find_grade("halve", WEEK, WEEK, "ada").score == 0.5
        assert gradebook.find_grade("halve", WEEK, WEEK, "bob").score == 1
    assert "Your text: Again." in bea.send(f"/requests/{WEEK}", 409, **form, text="Again.")
    assert read_request(course, week, "ada") == request


def test_a_request_that_was_replaced_is_read_again(ada, bea, result) -> None:
    ada.send(f"/weeks/{WEEK}/request", about="why", text="First.")
    page = bea.read("/requests")
    form = dict(re.findall(r'name="(student|asked|code|version)" value="([^"]*)"', page))
    form["asked"] = "2020-01-01T00:00:00+00:00"
    assert "My answer" in bea.send(f"/requests/{WEEK}", 409, **form, text="My answer")


def test_a_new_request_keeps_the_earlier_answer(ada, bea, result, course, week) -> None:
    ada.send(f"/weeks/{WEEK}/request", about="", text="First.")
    form = dict(
        re.findall(r'name="(student|asked|code|version)" value="([^"]*)"', bea.read("/requests"))
    )
    bea.send(f"/requests/{WEEK}", **form, text="No.")
    ada.send(f"/weeks/{WEEK}/request", about="double", text="Second.")
    request = read_request(course, week, "ada")
    assert request is not None
    assert [r.answer for r in request.earlier] == ["No."]


def test_a_request_needs_a_graded_submission_a_reason_and_a_real_exercise(
    ada, bea, result, sign_in
):
    path = f"/weeks/{WEEK}/request"
    Staff(sign_in("zoe")).send(path, 409, about="halve", text="Me, too.")
    ada.send(path, 422, about="nothing", text="x")
    ada.send(path, 422, about="halve", text="  ")
    ada.send(path, 422, about="halve", text="é" * 5000)
    bea.send(path, 403, about="halve", text="x")
    assert "There are no requests" in bea.read("/requests")
