"""Collecting from git, with real repositories: the due date's commit, without running code."""

from __future__ import annotations

import datetime as dt
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from autograder.channels.git import collect_git, read_repositories
from autograder.lms.bulk import Found
from autograder.model.course import Course, load
from autograder.model.errors import KitError
from tests.courses import write_below

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "course"
EARLY, DUE, LATE = "2027-01-15T12:00", "2027-01-18T23:58", "2027-01-20T12:00"
CODE = "def weigh(x):\n    return x\n"
MORE = """\
late:
  percent: 10
  extensions: [{student: bob, week: week01_tiny, until: 2027-01-21T12:00:00}]
"""
Commit = Callable[..., Path]


def git(folder: Path, *arguments: str, **env: str) -> str:
    identity = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
    done = subprocess.run(
        ["git", "-C", str(folder), *identity, "-c", "protocol.file.allow=always", *arguments],
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


@pytest.fixture
def course(tmp_path: Path) -> Course:
    root = tmp_path / "course"
    root.mkdir()
    (root / "course.yaml").write_text((GOLDEN / "course.yaml").read_text() + MORE)
    for name in ("autograder", "exercises", "solutions"):
        (root / name).symlink_to(GOLDEN / name)
    return load(root)


@pytest.fixture
def commit(tmp_path: Path) -> Commit:
    """Commit files to a student's clone, at a time; the clone is made if need be."""

    def commit(student: str, files: dict[str, str], when: str) -> Path:
        folder = tmp_path / "clones" / f"week01-{student}"
        if not folder.exists():
            folder.mkdir(parents=True)
            git(folder, "init", "-q", "-b", "main")
        for name, text in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text)
        git(folder, "add", "-A", "-f")
        moment = f"{when}:00+00:00"
        at = {"GIT_COMMITTER_DATE": moment, "GIT_AUTHOR_DATE": moment}
        git(folder, "commit", "-q", "--allow-empty", "-m", "x", **at)
        return folder

    return commit


@pytest.fixture
def collect(course: Course, tmp_path: Path) -> Callable[..., Found]:
    def collect(*students: str, newest: bool = False, **extended: dt.timedelta) -> Found:
        roster = tmp_path / "students.csv"
        roster.write_text("username,first_name\n" + "".join(f"{s},X\n" for s in students))
        found = read_repositories(roster, f"{tmp_path}/clones/week01-{{username}}")
        return collect_git(
            course,
            course.weeks[0],
            found,
            write_below(tmp_path / "submitted", "week01_tiny"),
            newest=newest,
            extended=extended,
        )

    return collect


def taken(tmp_path: Path, student: str = "ada") -> dict[str, str]:
    folder = tmp_path / "submitted" / student / "week01_tiny"
    return {
        p.relative_to(folder).as_posix(): p.read_text() for p in folder.rglob("*") if p.is_file()
    }


def test_what_was_there_at_the_due_date_is_taken(commit: Commit, collect, tmp_path: Path):
    commit("ada", {"tiny.py": CODE, "notes/why.md": "so"}, EARLY)
    commit("ada", {"tiny.py": CODE + "# the last in time\n"}, DUE)
    commit("ada", {"tiny.py": "# too late\n"}, LATE)
    found = collect("ada")
    assert taken(tmp_path) == {
        "tiny.py": CODE + "# the last in time\n",
        "notes/why.md": "so",
        "timestamp.txt": "2027-01-18 23:58:00.000000 UTC",
    }
    assert found.collected == ["ada"]


def test_who_has_more_time_has_it_here_too(commit: Commit, collect, tmp_path: Path):
    for student in ("bob", "carl", "dora"):
        commit(student, {"tiny.py": "# first\n"}, EARLY)
        commit(student, {"tiny.py": "# second\n"}, LATE)
    collect("bob", "carl", "dora", carl=dt.timedelta(days=3))
    assert [taken(tmp_path, s)["tiny.py"] for s in ("bob", "carl", "dora")] == [
        "# second\n",  # by course.yaml
        "# second\n",  # by nbgrader's gradebook
        "# first\n",
    ]


def test_the_newest_can_be_asked_for_and_is_late(commit: Commit, collect, tmp_path: Path):
    commit("ada", {"tiny.py": CODE}, LATE)
    assert collect("ada").missing == ["ada"]
    collect("ada", newest=True)
    assert taken(tmp_path)["timestamp.txt"] == "2027-01-20 12:00:00.000000 UTC"


def test_one_repository_that_cannot_be_read_stops_nobody(commit: Commit, collect, tmp_path: Path):
    commit("ada", {"tiny.py": CODE}, EARLY)
    (tmp_path / "clones" / "week01-eve").mkdir()
    found = collect("nobody", "eve", "ada")
    assert [line.partition(":")[0] for line in found.problems] == ["nobody", "eve"]
    assert found.collected == ["ada"]


def test_an_empty_repository_is_nothing_handed_in(collect, tmp_path: Path):
    folder = tmp_path / "clones" / "week01-ada"
    folder.mkdir(parents=True)
    git(folder, "init", "-q")
    assert collect("ada").missing == ["ada"]


def test_links_and_submodules_are_left_out(commit: Commit, collect, tmp_path: Path):
    other = commit("other", {"secret.py": "x"}, EARLY)
    folder = commit("ada", {"tiny.py": CODE}, EARLY)
    (folder / "link.py").symlink_to("/etc/passwd")
    git(folder, "submodule", "add", "-q", str(other), "sub")
    commit("ada", {}, EARLY)
    collect("ada")
    assert set(taken(tmp_path)) == {"tiny.py", "timestamp.txt"}


def test_the_templates_own_files_are_no_trouble(commit: Commit, collect, tmp_path: Path):
    own = {".gitignore": "x", ".github/workflows/checks.yml": "name: checks"}
    commit("ada", {"tiny.py": CODE, **own}, EARLY)
    assert collect("ada").problems == []
    assert set(taken(tmp_path)) == {"tiny.py", "timestamp.txt"}


def test_nothing_in_a_clone_is_run(commit: Commit, collect, tmp_path: Path):
    folder, canary = commit("ada", {"tiny.py": CODE}, EARLY), tmp_path / "canary"
    script = tmp_path / "script"
    script.write_text(f"#!/bin/sh\ntouch {canary}\n")
    script.chmod(0o755)
    for name in ("post-checkout", "post-upload-pack", "reference-transaction", "pre-commit"):
        hook = folder / ".git" / "hooks" / name
        hook.write_text(script.read_text())
        hook.chmod(0o755)
    (folder / ".gitattributes").write_text("*.py filter=evil\n")
    for key in ("core.fsmonitor", "core.pager", "core.sshCommand", "filter.evil.smudge",
                "uploadpack.packObjectsHook", "diff.external", "core.gitProxy"):  # fmt: skip
        git(folder, "config", key, str(script))
    canary.unlink(missing_ok=True)
    collect("ada")
    assert taken(tmp_path)["tiny.py"] == CODE
    assert not canary.exists()


def test_attributes_do_not_change_what_is_read(commit: Commit, collect, tmp_path: Path):
    hidden = {".gitattributes": "tiny.py export-ignore export-subst ident\n"}
    commit("ada", {"tiny.py": "# $Format:%H$ $Id$\n", **hidden}, EARLY)
    collect("ada")
    assert taken(tmp_path)["tiny.py"] == "# $Format:%H$ $Id$\n"


def test_a_large_file_is_left_out_and_said(commit: Commit, collect, tmp_path: Path):
    commit("ada", {"tiny.py": CODE, "data.csv": "x" * (9 << 20)}, EARLY)
    assert any("data.csv" in note for note in collect("ada").problems)
    assert set(taken(tmp_path)) == {"tiny.py", "timestamp.txt"}


def test_a_time_of_the_students_own_is_not_believed(commit: Commit, collect, tmp_path: Path):
    commit("ada", {"tiny.py": CODE, "timestamp.txt": "2027-01-01 00:00:00 UTC"}, EARLY)
    collect("ada")
    assert taken(tmp_path)["timestamp.txt"] == "2027-01-15 12:00:00.000000 UTC"


def test_dates_that_go_back_are_pointed_out(commit: Commit, collect):
    commit("ada", {"tiny.py": CODE}, LATE)
    commit("ada", {"tiny.py": CODE + "# backdated\n"}, EARLY)
    assert collect("ada").problems == ["ada: commit dates decrease along the history"]


def test_a_group_has_one_repository_and_each_gets_it(
    course: Course, commit: Commit, tmp_path: Path
):
    place = commit("pair", {"tiny.py": CODE}, EARLY)
    roster = tmp_path / "roster.csv"
    roster.write_text(f"student,repository\nada,{place}\nbob,{place}\n")
    found = collect_git(
        course,
        course.weeks[0],
        read_repositories(roster, None),
        write_below(tmp_path / "submitted", "week01_tiny"),
    )
    assert found.collected == ["ada", "bob"]
    assert taken(tmp_path, "ada")["tiny.py"] == taken(tmp_path, "bob")["tiny.py"] == CODE


@pytest.mark.parametrize(
    ("text", "students"),
    [
        ("username,first_name,last_name,email,section,github_id\nada,A,L,a@x,1,7\n", ["ada"]),
        ('identifier,github_username,github_id,name\nada@x.org,adal,7,""\n', ["ada@x.org"]),
    ],
    ids=["Classroom 50's students.csv", "GitHub Classroom's roster"],
)
def test_the_rosters_of_both_classrooms_are_read(text: str, students: list[str], tmp_path: Path):
    (tmp_path / "roster.csv").write_text(text)
    found = read_repositories(tmp_path / "roster.csv", "https://github.com/org/w-{username}.git")
    assert list(found) == students
    assert found[students[0]].startswith("https://github.com/org/w-ada")


@pytest.mark.parametrize("text", ["who\nada\n", "username\n", "username\n../eve\n"])
def test_a_roster_that_names_nobody_is_refused(text: str, tmp_path: Path):
    (tmp_path / "roster.csv").write_text(text)
    with pytest.raises(KitError):
        read_repositories(tmp_path / "roster.csv", "x/{username}")


def test_without_a_place_the_roster_says_how_to_give_one(tmp_path: Path):
    (tmp_path / "roster.csv").write_text("username\nada\n")
    with pytest.raises(KitError, match="--repositories"):
        read_repositories(tmp_path / "roster.csv", None)


def test_an_address_that_runs_a_command_is_refused(course: Course, tmp_path: Path):
    canary = tmp_path / "canary"
    roster = tmp_path / "roster.csv"
    roster.write_text(
        f'student,repository\nada,"ext::sh -c touch% {canary}"\nbob,--upload-pack=x\n'
    )
    found = collect_git(
        course, course.weeks[0], read_repositories(roster, None), write_below(tmp_path)
    )
    assert [line.partition(":")[0] for line in found.problems] == ["ada", "bob"]
    assert not canary.exists()
