"""Test that marks entered by hand survive the loss of the gradebook."""

from __future__ import annotations

import datetime as dt
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from autograder.cli import run
from autograder.model.course import Course, Week
from autograder.nbgrader.autograde.recorder import record
from autograder.nbgrader.collect.collector import collect
from autograder.nbgrader.formgrader.manual_marks import keep_marks
from autograder.nbgrader.gradebook.database import read_students
from autograder.nbgrader.workspace import Workspace, open_api, open_gradebook
from tests.nbgrader.tiny_course import SOLUTION, WEEK, graded, report

pytestmark = pytest.mark.filterwarnings(
    "ignore:unclosed file.*timestamp.txt:ResourceWarning",  # by nbgrader, releasing feedback
    "ignore:.*timestamp.txt:pytest.PytestUnraisableExceptionWarning",
)
BOTH = report(graded("ada", 2, 1), graded("bob", 1, 0))
Marks = Callable[..., None]


@pytest.fixture
def klass(
    course: Course,
    week: Week,
    hand_in: Callable[..., Path],
    notebook: str,
    monkeypatch: pytest.MonkeyPatch,
) -> Course:
    """Grade ada and bob, who both wrote an answer."""
    for name in ("ada", "bob"):
        answer = notebook.replace("*Your answer here.*", f"Because, says {name}.")
        hand_in(name, {"doubling.py": SOLUTION, f"{WEEK}.ipynb": answer})
    collect(course, week, check_owner=False)
    record(course, week, BOTH)
    monkeypatch.chdir(course.root)
    return course


@pytest.fixture
def mark(klass: Course) -> Marks:
    """Add a mark, a point, a comment and an extra day for ada, as Formgrader and nbgrader do."""

    def mark(score: float = 2.5) -> None:
        with open_gradebook(klass) as gradebook:
            grade = gradebook.find_grade("why", WEEK, WEEK, "ada")
            grade.manual_score, grade.extra_credit, grade.needs_manual_grade = score, 1, False
            gradebook.find_comment("why", WEEK, WEEK, "ada").manual_comment = "Well said."
            gradebook.find_submission(WEEK, "ada").extension = dt.timedelta(days=1)
            gradebook.db.commit()

    return mark


def held(course: Course, student: str = "ada") -> tuple[object, ...]:
    with open_gradebook(course) as gradebook:
        grade = gradebook.find_grade("why", WEEK, WEEK, student)
        comment = gradebook.find_comment("why", WEEK, WEEK, student).manual_comment
        extension = gradebook.find_submission(WEEK, student).extension
        return (
            grade.manual_score,
            grade.extra_credit,
            grade.needs_manual_grade,
            comment,
            extension or None,
        )


GIVEN = (2.5, 1, False, "Well said.", dt.timedelta(days=1))


def gradebook_file(course: Course) -> Path:
    return Workspace(course).root / "gradebook.db"


def test_after_the_gradebook_was_deleted_grade_puts_all_of_it_back(
    klass: Course, week: Week, mark: Marks
) -> None:
    mark()
    keep_marks(klass)
    gradebook_file(klass).unlink()
    said = record(klass, week, BOTH).notes
    assert held(klass) == GIVEN
    assert [n for n in said if "were restored: ada" in n]


def test_a_listed_student_without_a_submission_is_in_the_new_gradebook(
    klass: Course, week: Week, tmp_path: Path
) -> None:
    listed = tmp_path / "class.csv"
    listed.write_text("username,name,email\ncyd,Cyd Charisse,cyd@example.org\n", encoding="utf-8")
    assert run(["roster", str(listed)]) == 0
    gradebook_file(klass).unlink()
    record(klass, week, BOTH)
    assert read_students(klass)["cyd"] == {"name": "Cyd Charisse", "email": "cyd@example.org"}


def test_other_commands_send_there_if_nbgrader_itself_filled_it_again(
    klass: Course, week: Week, mark: Marks, capsys: pytest.CaptureFixture[str]
) -> None:
    mark()
    keep_marks(klass)
    gradebook_file(klass).unlink()
    record_without_marks(klass, week)
    keep_marks(klass)  # a missing mark must not overwrite the stored one
    assert run(["export", WEEK, "--unmarked"]) == 2
    assert "has lost the manual marks of ada in week01_tiny" in capsys.readouterr().err
    record(klass, week, BOTH)
    assert held(klass) == GIVEN


def record_without_marks(course: Course, week: Week) -> None:
    from autograder.nbgrader.autograde.preprocessor import prepared_report
    from autograder.nbgrader.gradebook.due_dates import restore_assignment
    from autograder.nbgrader.gradebook.report_store import submission_of

    restore_assignment(course, week)
    for submission in BOTH.submissions:
        with prepared_report(week, submission, submission_of(course, week, submission.name)):
            assert open_api(course).autograde(week.name, submission.name)["success"]


def test_a_backup_of_before_the_mark_gets_it_again(klass: Course, week: Week, mark: Marks) -> None:
    shutil.copy(gradebook_file(klass), gradebook_file(klass).with_suffix(".backup"))
    mark()
    keep_marks(klass)
    gradebook_file(klass).with_suffix(".backup").replace(gradebook_file(klass))
    record(klass, week, BOTH)
    assert held(klass) == GIVEN


def test_a_mark_that_was_withdrawn_stays_withdrawn(klass: Course, week: Week, mark: Marks) -> None:
    mark()
    keep_marks(klass)
    with open_gradebook(klass) as gradebook:
        gradebook.find_grade("why", WEEK, WEEK, "ada").manual_score = None
        gradebook.db.commit()
    record(klass, week, BOTH)
    assert held(klass)[0] is None


def test_a_mark_given_since_is_not_overwritten(klass: Course, week: Week, mark: Marks) -> None:
    mark()
    keep_marks(klass)
    gradebook_file(klass).unlink()
    record_without_marks(klass, week)
    with open_gradebook(klass) as gradebook:
        gradebook.find_grade("why", WEEK, WEEK, "ada").manual_score = 1.0
        gradebook.db.commit()
    said = record(klass, week, BOTH).notes
    assert held(klass)[0] == 1.0
    assert [n for n in said if "the gradebook has 1 instead of the former 2.5, and keeps it" in n]


def test_a_mark_for_another_answer_asks_to_be_looked_at_again(
    klass: Course, week: Week, mark: Marks, hand_in: Callable[..., Path], notebook: str
) -> None:
    mark()
    keep_marks(klass)
    gradebook_file(klass).unlink()
    changed = notebook.replace("*Your answer here.*", "On second thoughts.")
    files = {"doubling.py": SOLUTION, f"{WEEK}.ipynb": changed}
    hand_in("ada", files, time="2020-01-12 12:00:00.000000 UTC")
    collect(klass, week, check_owner=False)
    record(klass, week, BOTH)
    assert held(klass)[:3] == (2.5, 1, True)


def test_nbgraders_own_feedback_does_not_show_0_for_an_unread_answer(klass: Course) -> None:
    result = open_api(klass).generate_feedback(WEEK, "ada")
    assert not result["success"]
    assert "OnlyMarked.unmarked=True" in result["log"]
    assert Workspace(klass).students("feedback", klass.weeks[0]) == []


def test_nbgraders_own_export_does_not_either(klass: Course, mark: Marks, tmp_path: Path) -> None:
    from autograder.nbgrader.gradebook.export_plugin import QuotedCsvExport

    with open_gradebook(klass) as gradebook:
        exporter = QuotedCsvExport(project=str(klass.root))
        exporter.to = str(tmp_path / "grades.csv")
        with pytest.raises(SystemExit, match="by 2 students"):
            exporter.export(gradebook)
        exporter.unmarked = True
        exporter.export(gradebook)
    assert (tmp_path / "grades.csv").read_text().count("\n") == 3


def test_an_attachment_is_not_in_the_folder_of_the_feedback(
    klass: Course, week: Week, hand_in: Callable[..., Path], notebook: str
) -> None:
    scan = b"\x89PNG" + bytes(200_000)
    files = {"doubling.py": SOLUTION, f"{WEEK}.ipynb": notebook, "scan.png": scan}
    hand_in("ada", files, time="2020-01-12 12:00:00.000000 UTC")
    collect(klass, week, check_owner=False)
    record(klass, week, BOTH)
    assert run(["feedback", WEEK, "--unmarked"]) == 0
    workspace = Workspace(klass)
    assert sorted(p.name for p in workspace.feedback("ada", week).iterdir()) == [
        "submission_secret.txt",
        "timestamp.txt",
        f"{WEEK}.html",
    ]
