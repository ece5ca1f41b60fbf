"""Test that nbgrader's autograde step records the kit's scores and executes no code."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import nbformat
import pytest
from nbgrader import utils

from autograder.model.course import Course, Week
from autograder.model.errors import NbgraderError
from autograder.model.report.schema import Ending, Report, SubmissionReport
from autograder.nbgrader.autograde.preprocessor import decimal
from autograder.nbgrader.autograde.recorder import record
from autograder.nbgrader.collect.collector import collect
from autograder.nbgrader.publish_feedback import return_feedback
from autograder.nbgrader.workspace import Workspace, open_gradebook
from tests.nbgrader.tiny_course import SOLUTION, WEEK, graded, report
from tests.standings import WeekStanding, standings

# nbgrader leaves timestamp.txt open when it releases feedback.
leaves_files_open = pytest.mark.filterwarnings(
    "ignore:unclosed file.*timestamp.txt:ResourceWarning",
    "ignore:.*timestamp.txt:pytest.PytestUnraisableExceptionWarning",
)
Recorded = Callable[..., list[str]]


@pytest.fixture
def recorded(
    course: Course, week: Week, hand_in: Callable[..., Path], notebook: str
) -> Callable[..., list[str]]:
    """Submit, collect and record; return the output of `record`."""

    def recorded(*reports: SubmissionReport, answer: str = "") -> list[str]:
        own = notebook.replace("*Your answer here.*", answer) if answer else notebook
        for one in reports:
            hand_in(one.name, {"doubling.py": SOLUTION, f"{WEEK}.ipynb": own})
        collect(course, week, check_owner=False)
        return record(course, week, report(*reports)).lines()

    return recorded


def standing(course: Course, week: Week, student: str) -> WeekStanding:
    (found,) = [s for s in standings(course, week) if s.student == student]
    return found


def outputs(workspace: Workspace, week: Week, student: str, name: str) -> list[Any]:
    path = workspace.autograded(student, week) / f"{WEEK}.ipynb"
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.metadata.get("nbgrader", {}).get("grade_id") == name:
            return list(cell.outputs)
    raise AssertionError(name)


def test_the_gradebook_holds_the_reports_scores(
    recorded: Recorded, course: Course, week: Week
) -> None:
    assert recorded(graded("ada", 2, 1), graded("alan", 1.3333, 0))[-1] == (
        "2 of 2 recorded in the gradebook"
    )
    assert standing(course, week, "ada").scores == {"double": 2, "halve": 1, "why": 0}
    assert standing(course, week, "alan").score == pytest.approx(1.3333)


def test_a_cell_shows_the_feedback_and_then_one_plain_score(
    recorded: Recorded, workspace: Workspace, week: Week
) -> None:
    recorded(graded("alan", 1.5, 0))
    shown, score = outputs(workspace, week, "alan", "double")
    assert shown.output_type == "display_data"
    assert "squares instead of doubling" in shown.data["text/html"]
    assert (score.output_type, score.data) == ("execute_result", {"text/plain": "1.5"})


def test_a_refused_submission_gets_nothing_and_the_reason_once(
    recorded: Recorded, course: Course, workspace: Workspace, week: Week
) -> None:
    refused = SubmissionReport("ada", Ending.REFUSED, 0.0, 3.0, 0.0, "doubling.py is missing.")
    recorded(refused)
    assert standing(course, week, "ada").score == 0
    said = []
    for name in ("double", "halve"):
        shown, score = outputs(workspace, week, "ada", name)
        said.append("doubling.py is missing." in shown.data["text/html"])
        assert score.data["text/plain"] == "0"
    assert said == [True, False]


def test_a_fault_of_ours_records_nothing(recorded: Recorded, course: Course, week: Week) -> None:
    fault = SubmissionReport("ada", Ending.GRADER_FAULT, 0.0, 3.0, 0.0, "broken")
    said = recorded(fault, graded("alan", 2, 1))
    assert "ada: not recorded: the grading system failed on this submission" in said
    assert [s.student for s in standings(course, week)] == ["alan"]


def test_a_fault_inside_nbgraders_own_run_leaves_no_zero(
    course: Course, week: Week, hand_in: Callable[..., Path], notebook: str
) -> None:
    from autograder.nbgrader.autograde.preprocessor import prepared_report
    from autograder.nbgrader.gradebook.report_store import submission_of
    from autograder.nbgrader.workspace import open_api

    hand_in("ada", {"doubling.py": SOLUTION, f"{WEEK}.ipynb": notebook})
    collect(course, week, check_owner=False)
    broken = SubmissionReport("ada", Ending.GRADER_FAULT, 0.0, 3.0, 0.0, "broken")
    with prepared_report(week, broken, submission_of(course, week, "ada")):
        result = open_api(course).autograde(week.name, "ada")
    assert not result["success"]
    assert "week01_tiny, ada: not recorded. broken" in result["log"]
    assert standings(course, week) == []


def test_a_fault_keeps_the_score_of_before(recorded: Recorded, course: Course, week: Week) -> None:
    recorded(graded("ada", 2, 1))
    record(
        course, week, report(SubmissionReport("ada", Ending.GRADER_FAULT, 0.0, 3.0, 0.0, "broken"))
    )
    assert standing(course, week, "ada").score == 3


def test_what_ends_in_the_middle_of_a_submission_leaves_the_scores_of_before(
    recorded: Recorded, course: Course, week: Week, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorded(graded("ada", 2, 1))
    determine, cells = utils.determine_grade, []

    def fails_at_the_second(*arguments: Any) -> Any:
        cells.append(arguments)
        if len(cells) == 2:
            raise OSError("the disk is full")
        return determine(*arguments)

    monkeypatch.setattr(utils, "determine_grade", fails_at_the_second)
    said = record(course, week, report(graded("ada", 0, 0)))
    assert said.left_out == {"ada": "the disk is full"}
    assert len(cells) == 2
    assert standing(course, week, "ada").scores == {"double": 2, "halve": 1, "why": 0}


def test_a_written_answer_waits_for_a_person(
    recorded: Recorded, course: Course, week: Week
) -> None:
    recorded(graded("ada", 2, 1), answer="Because.")
    assert standing(course, week, "ada").to_mark == 1


def test_grading_again_keeps_what_a_person_marked(
    recorded: Recorded, course: Course, week: Week
) -> None:
    recorded(graded("ada", 2, 0), answer="Because.")
    with open_gradebook(course) as gradebook:
        gradebook.find_grade("why", WEEK, WEEK, "ada").manual_score = 2.5
        gradebook.db.commit()
    record(course, week, report(graded("ada", 2, 1)))
    assert standing(course, week, "ada").scores == {"double": 2, "halve": 1, "why": 2.5}


def mark(course: Course, student: str, name: str, score: float) -> None:
    """Add a mark as Formgrader does."""
    with open_gradebook(course) as gradebook:
        grade = gradebook.find_grade(name, WEEK, WEEK, student)
        grade.manual_score, grade.needs_manual_grade = score, False
        gradebook.db.commit()


def test_an_answer_that_was_marked_is_not_asked_for_again(
    recorded: Recorded, course: Course, week: Week
) -> None:
    recorded(graded("ada", 2, 0), answer="Because.")
    mark(course, "ada", "why", 2.5)
    record(course, week, report(graded("ada", 2, 1)))
    assert standing(course, week, "ada").to_mark == 0


def test_a_new_answer_is_asked_for_again_until_it_is_marked(
    recorded: Recorded, course: Course, week: Week, workspace: Workspace
) -> None:
    recorded(graded("ada", 2, 0), answer="Because.")
    mark(course, "ada", "why", 2.5)
    lesson = workspace.submitted("ada", week) / f"{WEEK}.ipynb"
    lesson.write_text(lesson.read_text("utf-8").replace("Because.", "Since."), "utf-8")
    for _ in range(2):
        record(course, week, report(graded("ada", 2, 0)))
        assert standing(course, week, "ada").to_mark == 1


@pytest.mark.parametrize(("again", "to_mark"), [(1.5, 0), (2.0, 1)])
def test_an_overridden_score_is_asked_for_again_where_the_automatic_one_changed(
    recorded: Recorded, course: Course, week: Week, again: float, to_mark: int
) -> None:
    recorded(graded("ada", 1.5, 1), answer="Because.")
    mark(course, "ada", "why", 3)
    mark(course, "ada", "double", 2)
    record(course, week, report(graded("ada", again, 1)))
    assert standing(course, week, "ada").to_mark == to_mark
    assert standing(course, week, "ada").scores["double"] == 2


def test_only_the_best_electives_count(
    recorded: Recorded, course: Course, week: Week, workspace: Workspace
) -> None:
    path = course.root / "course.yaml"
    text = path.read_text("utf-8").replace("points: 2}", "points: 2, elective: true}")
    text = text.replace("points: 1}", "points: 1, elective: true}")
    path.write_text(text.replace("exercises:", "electives_counted: 1\n    exercises:"), "utf-8")
    recorded(graded("ada", 2, 1))
    assert standing(course, week, "ada").scores["halve"] == 0
    shown, _ = outputs(workspace, week, "ada", "halve")
    assert "Only your best elective counts" in shown.data["text/html"]


def test_points_that_changed_since_the_release_are_not_guessed_at(
    recorded: Recorded, course: Course, week: Week
) -> None:
    path = course.root / "course.yaml"
    path.write_text(path.read_text("utf-8").replace("points: 2}", "points: 5}"), "utf-8")
    said = recorded(graded("ada", 2, 1))
    assert "gives 2 points for 'double'" in said[0]
    assert standings(course, week) == []


def test_who_was_not_collected_is_not_recorded(
    released: Workspace, course: Course, week: Week
) -> None:
    said = record(course, week, report(graded("ghost", 2, 1)))
    assert said.left_out == {"ghost": "no submission was collected under this name"}


def test_without_a_release_nothing_is_recorded(course: Course, week: Week) -> None:
    with pytest.raises(NbgraderError, match="was not released from here"):
        record(course, week, report(graded("ada", 2, 1)))


@leaves_files_open
def test_feedback_explains_and_needs_no_network(
    recorded: Recorded, course: Course, week: Week, workspace: Workspace
) -> None:
    recorded(graded("alan", 0, 1))
    returned = return_feedback(course, week)
    assert (returned.students, returned.notes) == (["alan"], [])
    page = (workspace.feedback("alan", week) / f"{WEEK}.html").read_text("utf-8")
    assert "squares instead of doubling" in page
    assert "data:image/png;base64," in page
    assert page.count("<script src") == page.count('<link href="http') == 0
    assert "squares instead of doubling" in workspace.feedback_page("alan", week).read_text()


@leaves_files_open
def test_a_path_in_a_students_text_is_not_opened_for_the_feedback(
    recorded: Recorded, course: Course, week: Week, workspace: Workspace
) -> None:
    recorded(graded("ada", 2, 1), answer="![](../../../../solutions/week01_tiny/doubling.py)")
    return_feedback(course, week)
    page = (workspace.feedback("ada", week) / f"{WEEK}.html").read_text("utf-8")
    assert page.count("base64,") == 1  # the lesson's own picture


def test_nobody_graded_means_no_feedback(released: Workspace, course: Course, week: Week) -> None:
    with pytest.raises(NbgraderError, match="week01_tiny has not been graded yet"):
        return_feedback(course, week)


@pytest.mark.parametrize(
    ("score", "text"), [(0.0, "0"), (2.0, "2"), (1.3333, "1.3333"), (0.00004, "0"), (10.5, "10.5")]
)
def test_a_score_is_a_plain_decimal(score: float, text: str) -> None:
    assert decimal(score) == text


@pytest.mark.parametrize("score", [-1.0, float("nan"), float("-inf")])
def test_what_is_no_score_is_not_written(score: float) -> None:
    with pytest.raises(NbgraderError):
        decimal(score)


def test_reports_of_a_batch_may_be_empty(released: Workspace, course: Course, week: Week) -> None:
    empty = msgspec.structs.replace(report(), submissions=())
    assert isinstance(empty, Report)
    assert record(course, week, empty).lines() == ["0 of 0 recorded in the gradebook"]
