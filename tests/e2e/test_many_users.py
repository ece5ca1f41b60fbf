"""Test the exchange between real Unix users: file permissions, and the name on each submission.

The test runs as root. It creates four users with homes and a shared exchange: an instructor who
owns the course, and three students, one of whom is Mallory. Each user runs nbgrader, and all users
are removed afterwards. If Python or the project is in a folder that is closed to other users, such
as root's home, the users get a mount namespace in which only these two are accessible; students
never get the project.
"""

from __future__ import annotations

import os
import pwd
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import nbformat
import pytest

import tests.nbgrader.tiny_course as TINY
from tests.wheels import build_wheels

PROJECT = Path(__file__).resolve().parents[2]
PROGRAMS = Path(sys.executable).parent
USERADD = shutil.which("useradd", path=f"{os.environ['PATH']}:/usr/sbin")
BWRAP = shutil.which("bwrap")
pytestmark = [
    pytest.mark.thorough,
    pytest.mark.skipif(
        os.geteuid() != 0 or not USERADD or not BWRAP,
        reason="only root can make users (and it takes useradd and bwrap)",
    ),
]
READABLE = """
import os, sys
for top in sys.argv[1:]:
    for folder, folders, files in os.walk(top):
        for name in files:
            try:
                open(os.path.join(folder, name), "rb").close()
            except OSError:
                continue
            print(os.path.join(folder, name))
"""


@dataclass
class User:
    """A user with an account on this machine."""

    name: str
    home: Path
    open_to_them: tuple[Path, ...]  # folders that the user can access wherever they are
    hidden: tuple[Path, ...] = ()
    python_path: str = ""
    uid: int = field(init=False)
    gid: int = field(init=False)

    def __post_init__(self) -> None:
        options = ["--no-create-home", "--user-group", "--home-dir", str(self.home)]
        subprocess.run([str(USERADD), *options, self.name], check=True)
        known = pwd.getpwnam(self.name)
        self.uid, self.gid = known.pw_uid, known.pw_gid
        self.home.mkdir(mode=0o700)
        os.chown(self.home, self.uid, self.gid)

    def remove(self) -> None:
        subprocess.run([str(USERADD).replace("useradd", "userdel"), self.name], check=False)

    def try_to(self, *command: str | Path, cwd: Path | None = None) -> Any:
        """Run a command with only this user's groups and environment."""
        view = [str(BWRAP), "--dev-bind", "/", "/", "--die-with-parent"]
        view += ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
        covered = sorted({*closed(self.open_to_them), *self.hidden})
        for folder in covered:
            view += ["--perms", "0755", "--tmpfs", str(folder)]
        for path in self.open_to_them:
            for above in reversed(path.parents):
                if any(above.is_relative_to(c) for c in covered):
                    view += ["--perms", "0755", "--dir", str(above)]
            view += ["--ro-bind", str(path), str(path)]
        me = ["setpriv", f"--reuid={self.uid}", f"--regid={self.gid}", "--clear-groups", "--"]
        return subprocess.run(
            [*view, "--chdir", str(cwd or self.home), "--", *me, *map(str, command)],
            env={
                "PATH": f"{PROGRAMS}{os.pathsep}{os.defpath}",
                "HOME": str(self.home),
                "PYTHONPATH": self.python_path,
                "PYTHONDONTWRITEBYTECODE": "1",
                "JUPYTER_PLATFORM_DIRS": "1",
                "JUPYTER_CONFIG_PATH": str(self.home.parents[1] / "etc"),
                "OMP_NUM_THREADS": "1",
                "NO_COLOR": "1",
                "COLUMNS": "80",
            },
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    def run(self, program: str, *arguments: str | Path, cwd: Path | None = None) -> str:
        done = self.try_to(PROGRAMS / program, *arguments, cwd=cwd)
        odd = {"release", "collect", "grade", "report", "feedback"} & {*arguments}
        fine = (0, 1) if odd else (0,)  # 1: done, with something to review
        assert done.returncode in fine, f"{self.name}: {program}:\n{done.stdout}\n{done.stderr}"
        return str(done.stdout + done.stderr)

    def readable(self, *places: Path) -> list[str]:
        """Return the files below these folders that the user can find and open."""
        return self.run("python", "-c", READABLE, *places).splitlines()

    def write(self, path: Path, text: str) -> None:
        path.write_text(text, encoding="utf-8")
        os.chown(path, self.uid, self.gid)


def closed(paths: tuple[Path, ...]) -> set[Path]:
    """Return the outermost parent folders of these paths that other users cannot enter."""
    found = set()
    for path in paths:
        for folder in reversed(path.parents):
            if not folder.stat().st_mode & stat.S_IXOTH:
                found.add(folder)
                break
    return found


WEEK = TINY.WEEK


@dataclass
class Campus:
    """The machine at the end of the week: its users and the output of the commands."""

    exchange: Path
    course: Path
    people: dict[str, User]
    said: dict[str, str] = field(default_factory=dict)

    @property
    def inbound(self) -> Path:
        return self.exchange / "tiny" / "inbound"

    def submission_of(self, user: str) -> Path:
        """Return the path of a submission, which only root can find."""
        uid = self.people[user].uid
        return next(p for p in sorted(self.inbound.iterdir()) if p.stat().st_uid == uid)


@pytest.fixture(scope="module")
def shared() -> Iterator[Path]:
    """Create a folder that all users can enter; pytest's own belong to root only."""
    folder = Path(tempfile.mkdtemp(prefix="autograder-campus-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(scope="module")
def student_packages(shared: Path) -> Path:
    """Install the contents of `make wheel` in a folder that all students can read."""
    target = shared / "packages"
    wheel, _ = build_wheels(shared / "kit")
    options = ["--quiet", "--no-deps", "--no-index"]
    command = [sys.executable, "-m", "pip", "install", *options, "--target", target, wheel]
    subprocess.run(command, check=True)
    return target


@pytest.fixture(scope="module")
def people(shared: Path, student_packages: Path) -> Iterator[dict[str, User]]:
    (shared / "home").mkdir(mode=0o755)
    python = (Path(sys.base_prefix).resolve(), Path(sys.prefix))
    found: dict[str, User] = {}
    try:
        for role in ("teach", "ada", "grace", "mallory"):
            name = f"{role}{os.getpid()}"
            home = shared / "home" / name
            if role == "teach":
                kit = (*python, PROJECT / "autograder")
                found[role] = User(name, home, kit, python_path=str(PROJECT))
            else:
                found[role] = User(name, home, python, (PROJECT,), str(student_packages))
        yield found
    finally:
        for user in found.values():
            user.remove()


@pytest.fixture(scope="module")
def campus(shared: Path, people: dict[str, User]) -> Campus:
    """Set up the exchange as the README describes and run the week to its end."""
    exchange = shared / "exchange"
    exchange.mkdir()
    exchange.chmod(0o1777)
    (shared / "etc").mkdir()  # replaces /etc/jupyter for all users
    (shared / "etc" / "nbgrader_config.py").write_text(
        f"c.Exchange.root = {str(exchange)!r}\nc.CourseDirectory.course_id = 'tiny'\n",
        encoding="utf-8",
    )
    teach = people["teach"]
    course = teach.home / "course"
    TINY.write_course(course)
    graders = course / "autograder" / "graders" / WEEK
    (graders / "test_halve.py").write_text(
        'def test_values(agree):\n    """Half of it."""\n    agree.halve(3.5)\n', encoding="utf-8"
    )
    with (course / "course.yaml").open("a", encoding="utf-8") as file:
        file.write(f"nbgrader:\n  exchange: {exchange}\n")
    for path in (course, *course.rglob("*")):
        os.chown(path, teach.uid, teach.gid)
    campus = Campus(exchange, course, people)
    teach.run("autograder", "release", "week01", "--unproven", cwd=course)
    ada, grace, mallory = (people[n] for n in ("ada", "grace", "mallory"))
    for user in (ada, mallory):
        user.run("nbgrader", "fetch_assignment", WEEK)
    ada.write(ada.home / WEEK / "doubling.py", TINY.SOLUTION)
    answered(ada, "Ada's answer.")
    ada.run("nbgrader", "submit", WEEK)
    mallory.run("nbgrader", "submit", WEEK, f"--student={ada.name}")
    mallory.run("nbgrader", "submit", WEEK, f"--student={grace.name}")
    campus.said["collect"] = teach.run("autograder", "collect", "week01", cwd=course)
    campus.said["grade"] = teach.run("autograder", "grade", "week01", cwd=course)
    campus.said["report"] = teach.run("autograder", "report", "week01", "--names", cwd=course)
    campus.said["feedback"] = teach.run(
        "autograder", "feedback", "week01", "--unmarked", cwd=course
    )
    return campus


def answered(user: User, answer: str) -> None:
    path = user.home / WEEK / f"{WEEK}.ipynb"
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        if cell.metadata.get("nbgrader", {}).get("grade_id") == "why":
            cell.source = answer
    user.write(path, nbformat.writes(notebook))


def test_students_reach_what_they_need(campus: Campus) -> None:
    ada = campus.people["ada"]
    said = ada.run("autograder", "progress", cwd=ada.home / WEEK)
    assert "double" in said


def test_a_student_reads_nothing_of_the_instructors(campus: Campus) -> None:
    mallory, teach = campus.people["mallory"], campus.people["teach"]
    places = (teach.home, campus.course, campus.course / "solutions", PROJECT)
    places += (campus.course / ".autograder", campus.course / "nbgrader" / "submitted")
    known = [
        campus.course / "solutions" / WEEK / "doubling.py",
        campus.course / "autograder" / "graders" / WEEK / "test_double.py",
        campus.course / "nbgrader" / "gradebook.db",
        campus.course / ".autograder" / "secret",
        *(campus.course / ".autograder" / "results").rglob("*.json"),
        campus.course / "nbgrader" / "submitted" / campus.people["ada"].name / WEEK,
    ]
    assert len(known) > 6
    assert all(path.exists() for path in known), "they are where they would be looked for"
    mine = [p for p in mallory.readable(*places) if not p.startswith(str(Path(sys.prefix)))]
    assert mine == []
    assert [p for p in known if mallory.try_to("cat", p).stdout] == []
    assert len(teach.readable(campus.course)) > 20, "the instructor does read them"


def test_a_student_finds_no_submission_in_the_exchange(campus: Campus) -> None:
    mallory = campus.people["mallory"]
    assert mallory.try_to("ls", campus.inbound).returncode != 0
    found = mallory.readable(campus.exchange)
    assert found, "what was released is there"
    assert [p for p in found if "/outbound/" not in p] == []


def test_a_student_reads_nothing_of_another_students_home(campus: Campus) -> None:
    ada, mallory = campus.people["ada"], campus.people["mallory"]
    assert mallory.readable(ada.home) == []
    assert ada.readable(ada.home)


def test_who_knows_a_submissions_name_cannot_move_it_away(campus: Campus) -> None:
    path = campus.submission_of("ada")
    mallory = campus.people["mallory"]
    assert mallory.try_to("mv", path, path.with_name("gone")).returncode != 0
    assert path.is_dir()


def test_nobody_puts_a_course_of_their_own_in_its_place(campus: Campus) -> None:
    mallory = campus.people["mallory"]
    assert mallory.try_to("mv", campus.exchange / "tiny", campus.exchange / "x").returncode != 0


def test_a_submission_in_another_name_is_pointed_out(campus: Campus) -> None:
    grace, mallory = campus.people["grace"].name, campus.people["mallory"].name
    said = campus.said["collect"]
    assert f"LOOK  submitted by the user {mallory} under other names: 1 ({grace})" in said


def test_what_the_student_owns_goes_before_a_later_one_of_another(campus: Campus) -> None:
    ada, mallory = campus.people["ada"].name, campus.people["mallory"].name
    assert (
        f"LOOK  {ada}: the user {mallory} submitted under this name too" in campus.said["collect"]
    )
    taken = campus.course / "nbgrader" / "submitted" / ada / WEEK / "doubling.py"
    assert taken.read_text(encoding="utf-8") == TINY.SOLUTION


def test_the_report_points_it_out(campus: Campus) -> None:
    page = (campus.course / f"report-{WEEK}.html").read_text(encoding="utf-8")
    assert "<strong>1</strong> submitted by a different user" in page
    assert campus.people["grace"].name in page.split("submitted by a different user")[1][:600]
    assert f"LOOK  {WEEK}: 1 submitted by a different user" in campus.said["report"]


def test_the_instructor_grades_without_root(campus: Campus) -> None:
    assert "sandbox none" not in campus.said["grade"]
    assert "2 of 2 recorded in the gradebook" in campus.said["grade"]


def test_feedback_reaches_its_student_and_nobody_else(campus: Campus) -> None:
    ada, mallory = campus.people["ada"], campus.people["mallory"]
    ada.run("nbgrader", "fetch_feedback", WEEK)
    (page,) = (ada.home / WEEK / "feedback").rglob("*.html")
    assert "Ada" in page.read_text(encoding="utf-8")
    mallory.try_to(PROGRAMS / "nbgrader", "fetch_feedback", WEEK, f"--student={ada.name}")
    fetched = list((mallory.home / WEEK / "feedback").rglob("*.html"))
    assert all("Ada" not in path.read_text(encoding="utf-8") for path in fetched)
    assert mallory.readable(campus.exchange / "tiny" / "feedback") == []
