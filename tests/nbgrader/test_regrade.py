"""Test fixing a hidden test after the week was graded: scores change with a reason, and back."""

from __future__ import annotations

import os
import signal
import warnings
from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest

from autograder.cli import run
from autograder.cli.instructor import class_report, regrading
from autograder.model.course import Course, Week, load
from autograder.model.errors import KitError, NbgraderError
from autograder.model.report.schema import Ending, SubmissionReport
from autograder.nbgrader.autograde.recorder import record
from autograder.nbgrader.collect.collector import collect
from autograder.nbgrader.gradebook.report_store import (
    earlier_reports,
    feedback_is_stale,
    stored_report,
)
from autograder.nbgrader.publish_feedback import return_feedback
from autograder.nbgrader.regrade import regrade
from autograder.nbgrader.regrade.regrade import (
    LeftOut,
    Preview,
    carry_out,
    plan_of,
    preview,
    undoing,
)
from autograder.nbgrader.regrade.regrade_log import Plan, RegradeLog
from autograder.nbgrader.workspace import Workspace, open_gradebook
from tests.nbgrader.tiny_course import SOLUTION, STUB, WEEK, graded, report, write
from tests.standings import standings

# nbgrader leaves timestamp.txt open when it releases feedback.
leaves_files_open = pytest.mark.filterwarnings(
    "ignore:unclosed file.*timestamp.txt:ResourceWarning",
    "ignore:.*timestamp.txt:pytest.PytestUnraisableExceptionWarning",
)
POLICY = "late: {percent: 10}\nweeks:\n"
LATE = "2020-01-15 12:00:00.000000 UTC"  # two started days after the due date
Scores = dict[str, float]


@pytest.fixture
def course(course: Course) -> Course:
    registry = course.root / "course.yaml"
    text = registry.read_text(encoding="utf-8").replace("weeks:\n", POLICY, 1)
    registry.write_text(text, encoding="utf-8")
    return load(course.root)


@pytest.fixture
def klass(course: Course, week: Week, hand_in: Callable[..., Path], notebook: str) -> Course:
    """Record ada (on time), bob (two days late) and eve (on time) with a wrong test."""
    answer = notebook.replace("*Your answer here.*", "Because.")
    for name in ("ada", "bob", "eve"):
        files = {"doubling.py": SOLUTION, f"{WEEK}.ipynb": answer}
        hand_in(name, files, *([LATE] if name == "bob" else []))
    collect(course, week, check_owner=False)
    record(course, week, report(graded("ada", 1, 1), graded("bob", 1, 1), graded("eve", 2, 1)))
    return course


# Results of the fixed test: ada and bob are correct.
MENDED = report(graded("ada", 2, 1), graded("bob", 2, 1), graded("eve", 2, 1))


def scores(course: Course) -> Scores:
    return {s.student: s.score for s in standings(course, course.weeks[0])}


def penalty(course: Course, student: str) -> float:
    with open_gradebook(course) as gradebook:
        return float(gradebook.find_submission(WEEK, student).late_submission_penalty or 0)


def mark(course: Course, student: str, cell: str, points: float) -> None:
    with open_gradebook(course) as gradebook:
        grade = gradebook.find_grade(cell, WEEK, WEEK, student)
        grade.manual_score, grade.needs_manual_grade = points, False
        gradebook.db.commit()


def apply(course: Course, week: Week, reason: str = "the test was wrong") -> Preview:
    found = preview(course, week, MENDED)
    carry_out(course, week, RegradeLog(course, week), plan_of(course, week, MENDED, found, reason))
    return found


def undo(course: Course, week: Week) -> list[str]:
    log = RegradeLog(course, week)
    plan, gone = undoing(course, week, log, "it was right after all")
    carry_out(course, week, log, plan)
    return gone


def everything(folder: Path) -> dict[str, bytes]:
    files = (p for p in sorted(folder.rglob("*")) if p.is_file())
    return {str(p): p.read_bytes() for p in files if p.parent.name != "marks"}  # stored each time


def test_a_preview_says_whose_score_changes_and_why(klass: Course, week: Week) -> None:
    found = preview(klass, week, MENDED)
    assert [c.student for c in found.rescored] == ["ada", "bob"]
    assert found.same == ["eve"]
    assert regrade.total(found.rescored[0]) == (2, 3)


def test_a_preview_writes_nothing(klass: Course, week: Week) -> None:
    before = everything(klass.root)
    preview(klass, week, MENDED)
    assert everything(klass.root) == before


def test_applying_writes_the_scores_and_nothing_else(klass: Course, week: Week) -> None:
    apply(klass, week)
    assert scores(klass) == {"ada": 3, "bob": 3, "eve": 3}
    assert preview(klass, week, MENDED).changes == []


def test_the_late_penalty_follows_the_new_score(klass: Course, week: Week) -> None:
    assert penalty(klass, "bob") == pytest.approx(0.4)
    apply(klass, week)
    assert penalty(klass, "bob") == pytest.approx(0.6)
    assert penalty(klass, "ada") == 0


def test_what_a_person_marked_stays_and_needs_no_second_look(klass: Course, week: Week) -> None:
    mark(klass, "bob", "why", 2.5)
    apply(klass, week)
    (bob,) = [s for s in standings(klass, week) if s.student == "bob"]
    assert (bob.scores["why"], bob.score, bob.to_mark) == (2.5, 5.5, 0)
    assert penalty(klass, "bob") == pytest.approx(1.1)


def test_an_exercise_that_was_marked_by_hand_stays_and_is_named(klass: Course, week: Week) -> None:
    mark(klass, "ada", "double", 0.5)
    assert apply(klass, week).by_hand == {"ada": ["double"]}
    assert scores(klass)["ada"] == 1.5


def test_the_new_verdicts_stand_in_the_graded_notebook(klass: Course, week: Week) -> None:
    path = Workspace(klass).autograded("ada", week) / f"{WEEK}.ipynb"
    assert "squares instead of doubling" in path.read_text(encoding="utf-8")
    mode = path.stat().st_mode
    apply(klass, week)
    assert "squares instead of doubling" not in path.read_text(encoding="utf-8")
    nbformat.validate(nbformat.read(path, as_version=4))
    assert path.stat().st_mode == mode


def test_the_log_keeps_who_what_when_and_why(klass: Course, week: Week) -> None:
    apply(klass, week, "asked for a power")
    (entry,) = RegradeLog(klass, week).entries()
    assert (entry.undoes, entry.reason, len(entry.graders)) == ("", "asked for a power", 40)
    assert entry.who
    assert entry.at.startswith("20")
    changed = [(c.student, c.old_scores, c.new_scores) for c in entry.changes]
    before, after = {"double": 1, "halve": 1}, {"double": 2, "halve": 1}
    assert changed == [("ada", before, after), ("bob", before, after)]


def test_undoing_brings_everything_back(klass: Course, week: Week) -> None:
    before = scores(klass), penalty(klass, "bob"), stored_report(klass, week, "ada")
    page = (Workspace(klass).autograded("ada", week) / f"{WEEK}.ipynb").read_bytes()
    apply(klass, week)
    assert undo(klass, week) == []
    assert (scores(klass), penalty(klass, "bob"), stored_report(klass, week, "ada")) == before
    now = (Workspace(klass).autograded("ada", week) / f"{WEEK}.ipynb").read_bytes()
    assert sorted(nbformat.reads(now.decode(), 4).cells, key=str) == sorted(
        nbformat.reads(page.decode(), 4).cells, key=str
    )
    regraded, undone = RegradeLog(klass, week).entries()
    assert (regraded.undoes, undone.undoes) == ("", regraded.id)


def test_a_second_undo_says_that_there_is_nothing(klass: Course, week: Week) -> None:
    apply(klass, week)
    undo(klass, week)
    with pytest.raises(NbgraderError, match="nothing to undo in week01_tiny: all regrades were un"):
        undo(klass, week)


def test_an_undo_without_a_regrade_says_so(klass: Course, week: Week) -> None:
    with pytest.raises(NbgraderError, match="it was never regraded"):
        undo(klass, week)


def test_who_was_graded_again_since_keeps_the_score_when_undone(
    klass: Course, week: Week, hand_in: Callable[..., Path], notebook: str
) -> None:
    apply(klass, week)
    module = f"{STUB}\nTRIED = 1\n"
    hand_in("ada", {"doubling.py": module, f"{WEEK}.ipynb": notebook}, "2020-01-11 12:00:00.0 UTC")
    collect(klass, week, check_owner=False)
    record(klass, week, report(graded("ada", 0, 0)))
    assert undo(klass, week) == ["ada"]
    assert scores(klass) == {"ada": 0, "bob": 2, "eve": 3}


def test_a_resubmission_is_left_to_grade(
    klass: Course, week: Week, hand_in: Callable[..., Path], notebook: str
) -> None:
    module = f"{STUB}\nTRIED = 1\n"
    hand_in("ada", {"doubling.py": module, f"{WEEK}.ipynb": notebook}, "2020-01-11 12:00:00.0 UTC")
    collect(klass, week, check_owner=False)
    found = preview(klass, week, MENDED)
    assert found.left_out["ada"] is LeftOut.SUBMITTED_AGAIN
    assert [c.student for c in found.changes] == ["bob"]


def test_both_results_of_a_resubmission_are_kept(
    klass: Course,
    week: Week,
    hand_in: Callable[..., Path],
    notebook: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(klass.root)
    module = f"{SOLUTION}\nTRIED = 2\n"
    hand_in("ada", {"doubling.py": module, f"{WEEK}.ipynb": notebook}, LATE)
    collect(klass, week, check_owner=False)
    record(klass, week, report(graded("ada", 2, 1)))
    now, (before,) = stored_report(klass, week, "ada"), earlier_reports(klass, week, "ada")
    assert now is not None
    assert (now.score, now.handed_in) == (3, LATE)
    assert (before.score, before.handed_in) == (2, "2020-01-10 12:00:00.000000 UTC")
    assert scores(klass)["ada"] == 3
    page = klass.root / "page.html"
    class_report.report(week.name, names=True, out=page)
    assert "before, submitted 2020-01-10 13:00 CET: 2 of 3." in page.read_text(encoding="utf-8")


def test_grading_the_same_again_keeps_one_result(klass: Course, week: Week) -> None:
    record(klass, week, report(graded("ada", 1, 1)))
    assert earlier_reports(klass, week, "ada") == []


def test_a_fault_of_ours_changes_nobody(klass: Course, week: Week) -> None:
    fault = SubmissionReport("ada", Ending.GRADER_FAULT, 0.0, 3.0, 0.0, "broken")
    found = preview(klass, week, report(fault, *MENDED.submissions[1:]))
    assert found.left_out["ada"] is LeftOut.GRADER_FAULT
    assert [c.student for c in found.changes] == ["bob"]


def test_without_anything_graded_it_says_so(
    course: Course, week: Week, hand_in: Callable[..., Path], notebook: str
) -> None:
    hand_in("ada", {"doubling.py": SOLUTION, f"{WEEK}.ipynb": notebook})
    collect(course, week, check_owner=False)
    with pytest.raises(NbgraderError, match=f"{WEEK} has not been graded yet"):
        preview(course, week, report(graded("ada", 2, 1)))


def test_without_anything_collected_it_says_so(
    course: Course, week: Week, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(course.root)
    with pytest.raises(KitError, match="nothing was collected"):
        regrading.regrade(week.name, preview=True)


def test_applying_needs_a_reason(
    course: Course, week: Week, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(course.root)
    with pytest.raises(KitError, match="needs --reason"):
        regrading.regrade(week.name, apply=True, reason="  ")


def stale(course: Course, week: Week, plan: Plan) -> list[str]:
    return [c.student for c in plan.changes if feedback_is_stale(course, week, c.student)]


@leaves_files_open
def test_stale_feedback_is_named(klass: Course, week: Week) -> None:
    return_feedback(klass, week)
    found = preview(klass, week, MENDED)
    plan = plan_of(klass, week, MENDED, found, "why")
    assert stale(klass, week, plan) == []
    carry_out(klass, week, RegradeLog(klass, week), plan)
    assert stale(klass, week, plan) == ["ada", "bob"]
    return_feedback(klass, week)
    assert stale(klass, week, plan) == []
    shown = Workspace(klass).feedback_page("bob", week).read_text(encoding="utf-8")
    assert "3.0 x 0.8 = 2.4" in shown


def dies(course: Course, week: Week, at: str, turn: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Apply in a process that is killed at the n-th call of a function of the module."""
    target = RegradeLog if at == "end" else regrade
    right, left = getattr(target, at), [turn]

    def deadly(*arguments: object) -> object:
        left[0] -= 1
        if not left[0]:
            os.kill(os.getpid(), signal.SIGKILL)
        return right(*arguments)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # fork despite threads
        child = os.fork()
    if not child:
        monkeypatch.setattr(target, at, deadly)
        try:
            apply(course, week)
        finally:
            os._exit(0)
    assert os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGKILL


@pytest.mark.parametrize(
    ("at", "turn", "written"),
    [
        ("write_gradebook", 1, False),
        ("update_penalty", 2, False),
        ("write_state", 1, True),
        ("write_notebook", 2, True),
        ("end", 1, True),
    ],
)
def test_a_killed_regrade_left_all_scores_old_or_new_and_is_finished(
    klass: Course, week: Week, monkeypatch: pytest.MonkeyPatch, at: str, turn: int, written: bool
) -> None:
    dies(klass, week, at, turn, monkeypatch)
    assert scores(klass) == ({"ada": 3, "bob": 3} if written else {"ada": 2, "bob": 2}) | {"eve": 3}
    log = RegradeLog(klass, week)
    plan = log.unfinished()
    assert plan is not None
    carry_out(klass, week, log, plan)
    assert scores(klass) == {"ada": 3, "bob": 3, "eve": 3}
    assert penalty(klass, "bob") == pytest.approx(0.6)
    assert log.unfinished() is None
    assert preview(klass, week, MENDED).changes == []
    undo(klass, week)
    assert scores(klass) == {"ada": 2, "bob": 2, "eve": 3}


def test_a_mended_hidden_test_from_preview_to_undo(
    course: Course,
    week: Week,
    hand_in: Callable[..., Path],
    notebook: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Run the commands with real grading: fix a hidden test that checked the wrong behaviour."""
    tests = course.graders(week)
    wrong = (
        "from autograder.authors import expect\n\n\n"
        "def test_half(submission):\n"
        "    expect(submission.halve(8.0) == 5.125, 'Half of 8 is asked for.')\n"
    )
    write(tests, {"test_halve.py": wrong})
    hand_in("ada", {"doubling.py": SOLUTION, f"{WEEK}.ipynb": notebook})
    collect(course, week, check_owner=False)

    monkeypatch.chdir(course.root)

    def ran(*arguments: str) -> str:
        code, said = run([*arguments]), capsys.readouterr()
        assert code == 0, said.out + said.err
        return said.out

    ran("grade", WEEK)
    assert scores(course) == {"ada": 2}
    write(tests, {"test_halve.py": wrong.replace("5.125", "4.0")})
    said = ran("regrade", WEEK, "--preview")
    assert "halve: test_half: wrong → pass" in said
    assert f"{WEEK}: 1 score changed, 0 unchanged" in said
    assert scores(course) == {"ada": 2}
    assert "late penalties of 1 student;" in ran(
        "regrade", WEEK, "--apply", "--reason", "asked for 5"
    )
    assert scores(course) == {"ada": 3}
    ran("regrade", WEEK, "--undo")
    assert scores(course) == {"ada": 2}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("noweek", "--preview"), "autograder: course.yaml has no week 'noweek'; its weeks are"),
        ((WEEK,), "autograder: use exactly one of --preview, --apply and --undo"),
        ((WEEK, "--undo"), f"autograder: nothing to undo in {WEEK}"),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_2(
    course: Course,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: tuple[str, ...],
    said: str,
) -> None:
    monkeypatch.chdir(course.root)
    assert run(["regrade", *arguments]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(said)
