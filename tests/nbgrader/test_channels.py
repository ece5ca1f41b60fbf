"""Test that no channel loses part of a submission or lowers a score without a message."""

from __future__ import annotations

import io
import json
import os
import subprocess
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from autograder.cli import run
from autograder.model.course import Course, load
from autograder.model.errors import IntakeError
from autograder.nbgrader.autograde.recorder import record
from autograder.nbgrader.collect.collector import collect
from autograder.nbgrader.status import status
from autograder.nbgrader.workspace import Workspace
from autograder.serve.grading_service import Service
from autograder.serve.recording import record_submissions
from autograder.serve.shared_state import Settings
from autograder.student.folder.packing import pack
from autograder.student.folder.week import describe_week, open_folder
from tests.nbgrader.grading_here import grade_here
from tests.nbgrader.tiny_course import SOLUTION, STUB, WEEK, report, write
from tests.standings import standings
from tests.weeks import thorough_after

MODULE, NOTEBOOK = "doubling.py", f"{WEEK}.ipynb"
HALF = SOLUTION.replace("x + x", "x")
Files = dict[str, str]
CANVAS = "Student,ID,SIS User ID,SIS Login ID,Section\n" + '"Lovelace, Ada",101,ada,ada,1\n'
MOODLE = 'Identifier,"Full name","Email address"\nParticipant 101,"Ada Lovelace",ada@x.org\n'
GRADESCOPE = "First Name,Last Name,SID,Email,Role\nAda,Lovelace,ada,ada@x.org,Student\n"


class Channel:
    """A channel from a student to the gradebook."""

    def __init__(self, course: Course, folder: Path, notebook: str) -> None:
        self.course, self.week, self.folder = course, course.weeks[0], folder
        self.notebook, self.day = notebook, 6
        folder.mkdir()

    def submit(self, files: Files) -> None:
        """Submit ada's files, a day after the last ones, and record the collected submission."""
        self.day += 1
        self.deliver({name: data.encode() for name, data in files.items()})
        for student in Workspace(self.course).students("submitted", self.week):
            one = grade_here(self.course, self.week, student)
            record(self.course, self.week, report(one))

    def deliver(self, files: dict[str, bytes]) -> None:
        raise NotImplementedError

    def zipped(self, files: dict[str, bytes]) -> Path:
        path = self.folder / "download.zip"
        with zipfile.ZipFile(path, "w") as archive:
            for name, data in files.items():
                archive.writestr(name, data)
        return path

    def collect(self, files: dict[str, bytes], roster: str) -> None:
        (self.folder / "class.csv").write_text(roster, "utf-8")
        zipped, named = str(self.zipped(files)), str(self.folder / "class.csv")
        assert run(["collect", WEEK, "--zip", zipped, "--roster", named]) in (0, 1)


class Exchange(Channel):
    student = "ada"

    def deliver(self, files: dict[str, bytes]) -> None:
        inbound = Workspace(self.course).exchange / "tiny" / "inbound"
        time = f"2020-01-{self.day:02} 12:00:00.000000 UTC"
        folder = inbound / f"{self.student}+{WEEK}+{time}+abc"
        marks = {"timestamp.txt": time, "submission_secret.txt": self.student}
        write(folder, {**files, **marks})
        collect(self.course, self.week, check_owner=False)


class ZipInExchange(Exchange):
    def deliver(self, files: dict[str, bytes]) -> None:
        super().deliver({"week.zip": self.zipped(files).read_bytes()})


class Group(Exchange):
    """Ada submits first, then Bob, in turns."""

    def deliver(self, files: dict[str, bytes]) -> None:
        groups = "group,student\none,ada\none,bob\n"
        (self.course.root / "groups.csv").write_text(groups, "utf-8")
        self.student = "bob" if self.day % 2 == 0 else "ada"
        super().deliver(files)


class Canvas(Channel):
    def deliver(self, files: dict[str, bytes]) -> None:
        self.collect({f"lovelaceada_101_9_{n}": d for n, d in files.items()}, CANVAS)


class Moodle(Channel):
    def deliver(self, files: dict[str, bytes]) -> None:
        below = "Ada Lovelace_101_assignsubmission_file_"
        self.collect({f"{below}/{n}": d for n, d in files.items()}, MOODLE)


class Gradescope(Channel):
    def deliver(self, files: dict[str, bytes]) -> None:
        about = (
            "---\nsubmission_9:\n  :submitters:\n  - :name: Ada Lovelace\n    :sid: ada\n"
            f"    :email: ada@x.org\n  :created_at: 2020-01-{self.day:02} 12:00:00 Z\n"
        )
        below = {f"assignment_1_export/submission_9/{n}": d for n, d in files.items()}
        listed = {"assignment_1_export/submission_metadata.yml": about.encode(), **below}
        self.collect(listed, GRADESCOPE)


class GitHub(Channel):
    def deliver(self, files: dict[str, bytes]) -> None:
        clone = self.folder / "ada"
        git = ["git", "-C", str(clone), "-c", "user.name=Ada", "-c", "user.email=ada@x.org"]
        when = f"2020-01-{self.day:02}T12:00:00Z"
        if not clone.exists():
            clone.mkdir()
            subprocess.run([*git, "init", "-q", "-b", "main"], check=True)
        for path in clone.glob("[!.]*"):
            path.unlink()
        write(clone, dict(files))
        subprocess.run([*git, "add", "-A"], check=True)
        environment = {**os.environ, "GIT_AUTHOR_DATE": when, "GIT_COMMITTER_DATE": when}
        subprocess.run([*git, "commit", "-qm", "work"], check=True, env=environment)
        (self.folder / "students.csv").write_text("username\nada\n", "utf-8")
        where = f"{self.folder}/{{username}}"
        listed = str(self.folder / "students.csv")
        code = run(["collect", WEEK, "--git", listed, "--repositories", where, "--newest"])
        assert code in (0, 1)


class Web(Channel):
    """The service, with grading and recording in this process."""

    def __init__(self, course: Course, folder: Path, notebook: str) -> None:
        super().__init__(course, folder, notebook)
        self.service = Service(course, Settings(processes=1, process_mib=1024))

    def sent(self, files: dict[str, bytes]) -> dict[str, bytes]:
        return files

    def deliver(self, files: dict[str, bytes]) -> None:
        service, sent = self.service, self.sent(files)
        try:
            one, _ = service.submissions.submit("ada", self.week, sent, "page")
        except IntakeError:
            return
        assert service.queue.claim() is not None
        scratch = Workspace(self.course).submitted("scratch", self.week)
        write(scratch, dict(service_files(service, one.digest)))
        graded = grade_here(self.course, self.week, "scratch")
        for path in (scratch, scratch.parent):
            subprocess.run(["rm", "-r", str(path)], check=True)
        service.queue.finish(one, graded, 0.1)
        queue, ledger, settings = service.queue, service.ledger, service.settings
        record_submissions(self.course, queue, ledger, settings, "ada", WEEK)


def service_files(service: Service, digest: str) -> Iterator[tuple[str, bytes]]:
    with zipfile.ZipFile(io.BytesIO(service.queue.content(digest))) as archive:
        yield from ((name, archive.read(name)) for name in archive.namelist())


class Submit(Web):
    """`autograder submit`, run in the student's folder."""

    def sent(self, files: dict[str, bytes]) -> dict[str, bytes]:
        folder = self.folder / f"day{self.day}" / WEEK
        described = describe_week(self.course, self.week)
        given = {MODULE: STUB.encode(), NOTEBOOK: self.notebook.encode()}
        write(folder, {"week.json": described, **given, **files})
        if MODULE not in files and len(files) == 1 and NOTEBOOK not in files:
            (folder / MODULE).unlink()  # the student renamed it
            return files  # `submit` requests a new name; the page accepts it
        return dict(pack(open_folder(folder)).files)


CHANNELS = (
    Web, Submit, Exchange, ZipInExchange, Canvas, Moodle, Gradescope, GitHub, Group,
)  # fmt: skip


@pytest.fixture(params=CHANNELS, ids=lambda kind: kind.__name__)
def channel(
    request: pytest.FixtureRequest, course: Course, released: Workspace, notebook: str,
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Channel]:  # fmt: skip
    monkeypatch.chdir(course.root)
    made = request.param(load(course.root), tmp_path / "channel", notebook)
    yield made
    if isinstance(made, Web):
        made.service.queue.engine.dispose()


def answered(notebook: str, text: str) -> str:
    return notebook.replace("*Your answer here.*", text)


def state(channel: Channel) -> tuple[float, str]:
    """Return ada's points and the answer that is to be marked."""
    found = {s.student: s.score for s in standings(channel.course, channel.week)}
    if isinstance(channel, Group):
        assert found.get("bob") == found["ada"]
    path = Workspace(channel.course).autograded("ada", channel.week) / NOTEBOOK
    cells: list[dict[str, Any]] = json.loads(path.read_text("utf-8"))["cells"]
    (cell,) = (c for c in cells if c["metadata"].get("nbgrader", {}).get("grade_id") == "why")
    return found["ada"], "".join(cell["source"])


SECOND: dict[str, tuple[Callable[[str], Files], tuple[float, str]]] = {
    "the module alone keeps the answer": (lambda _: {MODULE: HALF}, (1, "Mine.")),
    "the notebook alone keeps the module": (lambda n: {NOTEBOOK: answered(n, "New.")}, (3, "New.")),
    "an untouched answer keeps the earlier one": (
        lambda n: {MODULE: SOLUTION + "\n", NOTEBOOK: n}, (3, "Mine."),
    ),
    "a renamed module is taken": (lambda _: {"doubling_final.py": HALF}, (1, "Mine.")),
    "what Python cannot read replaces nothing": (lambda _: {MODULE: "def f(:\n"}, (3, "Mine.")),
    "an empty module replaces nothing": (lambda _: {MODULE: "\n"}, (3, "Mine.")),
    "answers are taken beside a module that cannot be graded": (
        lambda n: {MODULE: "x = (\n", NOTEBOOK: answered(n, "New.")}, (3, "New."),
    ),
    "answers are taken beside a module that cannot be imported": (
        lambda n: {MODULE: "1 / 0\n", NOTEBOOK: answered(n, "New.")}, (3, "New."),
    ),
}  # fmt: skip


@pytest.mark.parametrize("second", thorough_after(2, SECOND))
def test_no_part_is_lost(channel: Channel, second: str) -> None:
    files, expected = SECOND[second]
    channel.submit({MODULE: SOLUTION, NOTEBOOK: answered(channel.notebook, "Mine.")})
    assert state(channel) == (3, "Mine.")
    channel.submit(files(channel.notebook))
    assert state(channel) == expected
    (now,) = status(channel.course)
    assert ("ada" in now.lower) == (expected[0] < 3)
