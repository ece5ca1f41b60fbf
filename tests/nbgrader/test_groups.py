"""Test groups: one member submits, the work is graded once, and all members get the result."""

from __future__ import annotations

import json
import subprocess
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from autograder.cli import run
from autograder.model.course import Course, Week, load
from autograder.model.errors import KitError
from autograder.nbgrader.autograde.recorder import record
from autograder.nbgrader.collect.collector import collect
from autograder.nbgrader.collect.groups import groups_of, share_marks, spread_groups
from autograder.nbgrader.collect.history import read_student
from autograder.nbgrader.gradebook.final_scores import final_scores
from autograder.nbgrader.workspace import Workspace, open_gradebook
from autograder.similarity import compare_collected
from tests.nbgrader.tiny_course import SOLUTION, WEEK, graded, report

OTHER = SOLUTION + "\n# another one\n"
FIRST, SECOND = "2020-01-10 12:00:00.000000 UTC", "2020-01-11 12:00:00.000000 UTC"
CANVAS = """\
Student,ID,SIS User ID,SIS Login ID,Section
    Points Possible,,,,
"Lovelace, Ada",101,,ada,A
"Bobson, Bob",102,,bob,A
"""
HandIn = Callable[..., Path]


@pytest.fixture
def hands_in(hand_in: HandIn, notebook: str) -> HandIn:
    answered = notebook.replace("*Your answer here.*", "Because we say so.")

    def hands_in(student: str, code: str = SOLUTION, time: str = FIRST, **more: str) -> Path:
        files = {"doubling.py": code, f"{WEEK}.ipynb": answered, **more}
        return hand_in(student, files, time=time)

    return hands_in


@pytest.fixture
def listed(course: Course) -> Course:
    (course.root / "groups.csv").write_text("group,student\nA,ada\nA,bob\nB,carl\n")
    return course


def module(course: Course, student: str) -> str:
    return (Workspace(course).submitted(student, course.weeks[0]) / "doubling.py").read_text()


def test_what_one_hands_in_is_everybodys(listed: Course, week: Week, hands_in: HandIn) -> None:
    hands_in("ada")
    found = collect(listed, week, check_owner=False)
    assert found.grouped == ["bob gets the submission of ada for their group"]
    assert module(listed, "bob") == SOLUTION
    folder = Workspace(listed).submitted("bob", week)
    assert (folder / "timestamp.txt").read_text() == FIRST
    assert not (folder / "submission_secret.txt").exists(), "by it ada fetches her feedback"


def test_it_is_one_submission_to_the_grader(listed: Course, week: Week, hands_in: HandIn) -> None:
    hands_in("ada")
    collect(listed, week, check_owner=False)
    assert read_student(listed, week, "ada").files == read_student(listed, week, "bob").files


def test_the_newest_of_a_group_counts_and_feedback_reaches_both(
    listed: Course, week: Week, hands_in: HandIn
) -> None:
    hands_in("ada", OTHER, FIRST)
    hands_in("bob", SOLUTION, SECOND)
    collect(listed, week, check_owner=False)
    assert module(listed, "ada") == module(listed, "bob") == SOLUTION
    secrets = [
        (Workspace(listed).submitted(s, week) / "submission_secret.txt").read_text()
        for s in ("ada", "bob")
    ]
    assert secrets == ["ada", "bob"], "each fetches it as before"


def test_a_later_hand_in_of_either_takes_the_place(
    listed: Course, week: Week, hands_in: HandIn
) -> None:
    hands_in("ada", OTHER, FIRST)
    collect(listed, week, check_owner=False)
    hands_in("bob", SOLUTION, SECOND)
    collect(listed, week, check_owner=False)
    assert module(listed, "ada") == SOLUTION
    assert spread_groups(listed, week) == {}, "nothing is left to do"


def test_whoever_is_alone_is_left_alone(listed: Course, week: Week, hands_in: HandIn) -> None:
    hands_in("carl", OTHER)
    assert collect(listed, week, check_owner=False).grouped == []
    assert groups_of(listed, week) == [["ada", "bob"]]


def test_a_download_of_another_system_reaches_the_group_too(
    listed: Course, week: Week, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(listed.root)
    (listed.root / "canvas.csv").write_text(CANVAS)
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        archive.writestr("ada_101_9_doubling.py", SOLUTION)
    assert run(["collect", WEEK, "--zip", f"{tmp_path}/all.zip", "--roster", "canvas.csv"]) == 0
    assert module(listed, "bob") == SOLUTION


def test_repositories_reach_the_group_too(
    listed: Course, week: Week, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(listed.root)
    clone = tmp_path / "ada"
    clone.mkdir()
    (clone / "doubling.py").write_text(SOLUTION)
    who = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
    for command in (("init", "-q"), ("add", "-A"), ("commit", "-q", "-m", "x")):
        subprocess.run(["git", "-C", str(clone), *who, *command], check=True)
    (listed.root / "students.csv").write_text("username\nada\n")
    where = ["--repositories", f"{tmp_path}/{{username}}", "--newest"]
    run(["collect", WEEK, "--git", "students.csv", *where])
    assert module(listed, "bob") == SOLUTION


def test_a_group_is_one_module_where_modules_are_compared(
    listed: Course, week: Week, hands_in: HandIn
) -> None:
    hands_in("ada")
    hands_in("carl", OTHER)
    collect(listed, week, check_owner=False)
    found = compare_collected(listed, week)
    assert set(found.modules) == {"ada", "carl"}
    assert found.left_out["bob"] == "in a group with ada"


def points_of(course: Course, week: Week) -> dict[str, float]:
    return {student: score.points for student, score in final_scores(course, week).items()}


def test_a_mark_for_one_is_a_mark_for_all(listed: Course, week: Week, hands_in: HandIn) -> None:
    hands_in("ada")
    collect(listed, week, check_owner=False)
    record(listed, week, report(graded("ada", 2, 1), graded("bob", 2, 1)))
    with open_gradebook(listed) as gradebook:
        grade = gradebook.find_grade("why", WEEK, WEEK, "ada")
        grade.manual_score, grade.needs_manual_grade = 2.5, False
        gradebook.find_comment("why", WEEK, WEEK, "ada").manual_comment = "Good."
        gradebook.db.commit()
    assert share_marks(listed, week) == ["bob gets the marks of ada"]
    assert points_of(listed, week) == {"ada": 5.5, "bob": 5.5}
    with open_gradebook(listed) as gradebook:
        assert gradebook.find_comment("why", WEEK, WEEK, "bob").manual_comment == "Good."


def test_export_needs_one_mark_and_not_two(
    listed: Course, week: Week, hands_in: HandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    hands_in("ada")
    collect(listed, week, check_owner=False)
    record(listed, week, report(graded("ada", 2, 1), graded("bob", 2, 1)))
    monkeypatch.chdir(listed.root)
    assert run(["export", WEEK]) == 2
    with open_gradebook(listed) as gradebook:
        grade = gradebook.find_grade("why", WEEK, WEEK, "bob")
        grade.manual_score, grade.needs_manual_grade = 1.0, False
        gradebook.db.commit()
    assert run(["export", WEEK]) == 0


def test_lateness_is_each_ones_own(listed: Course, week: Week, hands_in: HandIn) -> None:
    more = f"{{student: bob, week: {WEEK}, until: 2020-01-20T12:00:00}}"
    late = f"late: {{percent: 10, extensions: [{more}]}}\n"
    registry = listed.root / "course.yaml"
    registry.write_text(late + registry.read_text())
    course = load(listed.root)
    hands_in("ada", time="2020-01-14 12:00:00.000000 UTC")
    collect(course, week, check_owner=False)
    record(course, week, report(graded("ada", 2, 1), graded("bob", 2, 1)))
    assert points_of(course, week) == {"ada": 2.7, "bob": 3.0}


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("name\nada\n", "needs the columns"),
        ("group,student\nA,ada\nB,ada\n", "line 3: ada is in two groups"),
        ("group,student,week\nA,ada,week9\n", "line 2: there is no week 'week9'"),
    ],
)
def test_a_mistake_in_the_list_is_named(course: Course, week: Week, text: str, what: str) -> None:
    (course.root / "groups.csv").write_text(text)
    with pytest.raises(KitError, match=what):
        groups_of(course, week)


def test_a_group_may_be_of_one_week(course: Course, week: Week) -> None:
    text = f"group,student,week\nA,ada,{WEEK}\nA,bob,{WEEK}\n"
    (course.root / "groups.csv").write_text(text)
    assert groups_of(course, week) == [["ada", "bob"]]
    assert json.dumps(groups_of(course, week)) == '[["ada", "bob"]]'


def test_an_unknown_member_is_reported_before_the_copy(
    listed: Course, week: Week, hands_in: HandIn
) -> None:
    with open_gradebook(listed) as gradebook:
        for name in ("ada", "carl", "bobby"):
            gradebook.add_student(name)
    hands_in("ada")
    found = collect(listed, week, check_owner=False)
    assert found.notes == ["groups.csv: there is no student 'bob': did you mean 'bobby'?"]
