"""Test that collecting takes only the student's regular files and skips everything else."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from autograder.model.course import Course, Week
from autograder.model.errors import NbgraderError
from autograder.nbgrader.collect.collector import Collection, collect
from autograder.nbgrader.collect.history import MARKER
from autograder.nbgrader.collect.safe_read import read_ordinary
from autograder.nbgrader.collect.submissions import accept, collected
from autograder.nbgrader.workspace import Workspace
from tests.nbgrader.tiny_course import SOLUTION, STUB, WEEK

NOTEBOOK = f"{WEEK}.ipynb"


@pytest.fixture
def gather(course: Course, week: Week) -> Callable[[], Collection]:
    return lambda: collect(course, week, check_owner=False)


def test_a_submission_is_collected(
    hand_in: Callable[..., Path], gather: Callable[[], Collection], notebook: str, course: Course
) -> None:
    hand_in("ada", {"doubling.py": SOLUTION, NOTEBOOK: notebook})
    assert gather().fresh == ["ada"]
    (submission,) = collected(course, course.weeks[0])
    assert submission.files == {"doubling.py": SOLUTION.encode()}


def test_what_was_handed_out_is_no_part_of_a_submission(
    hand_in: Callable[..., Path], gather: Callable[[], Collection], notebook: str, course: Course
) -> None:
    files = {"doubling.py": STUB, "test_doubling.py": "mine", "own.py": "1", NOTEBOOK: notebook}
    hand_in("ada", files)
    gather()
    (submission,) = collected(course, course.weeks[0])
    assert sorted(submission.files) == ["doubling.py", "own.py"]


def test_a_newer_submission_takes_the_place_of_an_older_one(
    hand_in: Callable[..., Path], gather: Callable[[], Collection], notebook: str, course: Course
) -> None:
    hand_in("ada", {"doubling.py": "old = 1", NOTEBOOK: notebook})
    gather()
    hand_in(
        "ada", {"doubling.py": "new = 1", NOTEBOOK: notebook}, time="2020-01-11 12:00:00.000000 UTC"
    )
    assert (gather().fresh, gather().unchanged) == (["ada"], ["ada"])
    (submission,) = collected(course, course.weeks[0])
    assert submission.files["doubling.py"] == b"new = 1"


def test_who_is_missing_is_said(
    hand_in: Callable[..., Path], gather: Callable[[], Collection], notebook: str, course: Course
) -> None:
    from autograder.nbgrader.workspace import open_gradebook

    with open_gradebook(course) as gradebook:
        gradebook.update_or_create_student("zoe")
    hand_in("ada", {"doubling.py": SOLUTION, NOTEBOOK: notebook})
    assert gather().missing == ["zoe"]


def test_a_submission_of_another_user_is_pointed_out(
    hand_in: Callable[..., Path], course: Course, week: Week, notebook: str
) -> None:
    hand_in("nobody-of-this-name", {"doubling.py": SOLUTION, NOTEBOOK: notebook})
    assert list(collect(course, week).foreign) == ["nobody-of-this-name"]


def test_a_student_whose_files_cannot_be_stored_stops_nobody_else(
    hand_in: Callable[..., Path],
    gather: Callable[[], Collection],
    workspace: Workspace,
) -> None:
    for student in ("ada", "mallory", "zoe"):
        hand_in(student, {"doubling.py": SOLUTION})
    (workspace.root / "submitted").mkdir()
    (workspace.root / "submitted" / "mallory").write_text("no folder")
    found = gather()
    assert found.fresh == ["ada", "zoe"]
    assert any("mallory: could not be stored" in note for note in found.notes)


def test_a_link_to_the_solution_brings_nothing(
    hand_in: Callable[..., Path],
    gather: Callable[[], Collection],
    notebook: str,
    course: Course,
    week: Week,
    workspace: Workspace,
) -> None:
    folder = hand_in("mallory", {NOTEBOOK: notebook})
    (folder / "doubling.py").symlink_to(course.solution(week))
    (folder / "leak.html").symlink_to(course.solution(week))
    (folder / "more").symlink_to(course.solution_folder(week))
    found = gather()
    assert sorted(p.name for p in workspace.submitted("mallory", week).iterdir()) == [
        MARKER,
        "submission_secret.txt",
        "timestamp.txt",
        NOTEBOOK,
    ]
    assert any("'doubling.py' was skipped: it is a link" in note for note in found.notes)


def test_a_submission_that_is_a_link_brings_nothing(
    released: Workspace, gather: Callable[[], Collection], course: Course, week: Week
) -> None:
    inbound = released.exchange / "tiny" / "inbound"
    name = f"mallory+{WEEK}+2020-01-10 12:00:00.000000 UTC+abc"
    (inbound / name).symlink_to(course.solution_folder(week))
    gather()
    assert not (released.submitted("mallory", week) / week.module).exists()


@pytest.mark.parametrize(
    "name",
    [
        f"x+{WEEK}+yesterday+abc",
        f"a b+{WEEK}+2020-01-10 12:00:00.000000 UTC+abc",
        f"+{WEEK}+",
    ],
)
def test_a_name_that_nbgrader_did_not_make_is_passed_over(
    hand_in: Callable[..., Path],
    gather: Callable[[], Collection],
    notebook: str,
    released: Workspace,
    name: str,
) -> None:
    hand_in("ada", {"doubling.py": SOLUTION, NOTEBOOK: notebook})
    (released.exchange / "tiny" / "inbound" / name).mkdir()
    found = gather()
    assert found.fresh == ["ada"]
    assert any("is not a submission" in note for note in found.notes)


def test_a_garbled_timestamp_does_not_stop_the_next_collect(
    hand_in: Callable[..., Path], gather: Callable[[], Collection], notebook: str
) -> None:
    folder = hand_in("ada", {"doubling.py": SOLUTION, NOTEBOOK: notebook})
    (folder / "timestamp.txt").write_text("soon", encoding="utf-8")
    gather()
    assert gather().unchanged == ["ada"]


def test_a_missing_notebook_is_stood_in_for(
    hand_in: Callable[..., Path],
    gather: Callable[[], Collection],
    notebook: str,
    workspace: Workspace,
    week: Week,
) -> None:
    hand_in("ada", {"doubling.py": SOLUTION})
    assert gather().notes == ["ada: the notebook is missing; replaced by an empty one"]
    assert (workspace.submitted("ada", week) / NOTEBOOK).read_text("utf-8") == notebook


def test_a_damaged_notebook_is_kept_aside(
    hand_in: Callable[..., Path],
    gather: Callable[[], Collection],
    workspace: Workspace,
    week: Week,
) -> None:
    hand_in("ada", {"doubling.py": SOLUTION, NOTEBOOK: "{"})
    gather()
    folder = workspace.submitted("ada", week)
    assert (folder / f"{NOTEBOOK}.unreadable").read_text("utf-8") == "{"


def test_a_renamed_notebook_is_taken_under_its_right_name(
    hand_in: Callable[..., Path],
    gather: Callable[[], Collection],
    notebook: str,
    workspace: Workspace,
    week: Week,
) -> None:
    own = notebook.replace("*Your answer here.*", "Mine.")
    hand_in("ada", {"doubling.py": SOLUTION, "Copy of it.ipynb": own})
    gather()
    assert (workspace.submitted("ada", week) / NOTEBOOK).read_text("utf-8") == own


def test_collecting_before_the_release_says_so(course: Course, week: Week) -> None:
    with pytest.raises(NbgraderError, match="`autograder release week01_tiny` to create it"):
        collect(course, week)


def test_pipes_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "from").mkdir()
    os.mkfifo(tmp_path / "from" / "doubling.py")
    files, notes = read_ordinary(tmp_path / "from")
    assert (files, notes) == ({}, ["'doubling.py' was skipped: it is not a regular file"])


def test_the_content_of_an_oversized_file_is_not_read(tmp_path: Path) -> None:
    with (tmp_path / "doubling.py").open("wb") as file:
        file.truncate(1 << 30)
    files, (note,) = read_ordinary(tmp_path, bound=1 << 20)
    assert "too large (1024 MiB)" in note
    assert len(files["doubling.py"]) == (1 << 20) + 1


def test_folders_are_read_and_ignored_names_are_not(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "own.py").write_text("1", encoding="utf-8")
    (tmp_path / "deep" / "own.pyc").write_text("1", encoding="utf-8")
    assert read_ordinary(tmp_path, ("*.pyc",)) == ({"deep/own.py": b"1"}, [])


def test_a_large_attachment_stays_in_the_exchange(
    hand_in: Callable[..., Path],
    gather: Callable[[], Collection],
    notebook: str,
    workspace: Workspace,
    week: Week,
) -> None:
    files = {"doubling.py": SOLUTION, f"{week.name}.ipynb": notebook}
    with (hand_in("ada", files) / "talk.mp4").open("wb") as attachment:
        attachment.truncate(60 << 20)
    assert gather().notes == ["ada: 'talk.mp4' (60 MiB) was skipped: no graded file is so large"]
    assert not (workspace.submitted("ada", week) / "talk.mp4").exists()


def test_a_notebook_full_of_pictures_is_taken(
    hand_in: Callable[..., Path],
    gather: Callable[[], Collection],
    notebook: str,
    workspace: Workspace,
    week: Week,
) -> None:
    large = notebook.replace("*Your answer here.*", "picture " * (2 << 20))
    hand_in("ada", {"doubling.py": SOLUTION, f"{week.name}.ipynb": large})
    assert gather().notes == []
    assert (workspace.submitted("ada", week) / f"{week.name}.ipynb").stat().st_size > 16 << 20


def test_what_a_service_has_settled_is_not_collected_again(
    course: Course, week: Week, hand_in: Callable[..., Path]
) -> None:
    hand_in("ada", {"doubling.py": SOLUTION}, "2020-01-10 12:00:00.000000 UTC")
    hand_in("alan", {"doubling.py": SOLUTION}, "2020-01-10 12:00:00.000000 UTC")
    files = {"doubling.py": SOLUTION.encode()}
    accept(course, week, "ada", files, "2020-01-10 12:00:00.000000 UTC", "service")
    accept(course, week, "alan", {"doubling.py": b"x"}, "2020-01-10 11:00:00.000000 UTC", "service")
    assert collect(course, week).fresh == ["alan"]
