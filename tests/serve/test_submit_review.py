"""`autograder submit` shows a review and asks before it submits."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import uvicorn

from autograder.model.course import Course, Week
from autograder.serve.grading_service import Service
from autograder.serve.login import Login
from autograder.serve.submissions.upload import unpacked
from autograder.serve.views.routes import application
from autograder.student.folder.week import describe_week
from tests.nbgrader.tiny_course import SOLUTION, WEEK, write
from tests.serve.running import AUTOGRADER, free_port, submit, until
from tests.serve.test_review import notebook

OTHER = SOLUTION.replace("x + x", "2 * x")


@pytest.fixture
def url(service: Service, door: Login) -> Iterator[str]:
    """Run the service on a port, without grading."""
    port = free_port()
    server = uvicorn.Server(
        uvicorn.Config(application(service, door), port=port, log_level="error", lifespan="off")
    )
    thread = threading.Thread(target=server.run)
    thread.start()
    until(lambda: server.started)
    yield f"http://127.0.0.1:{port}/"
    server.should_exit = True
    thread.join()


class Folder:
    """A student's folder of the week, from which it is submitted."""

    def __init__(self, path: Path, url: str, token: str) -> None:
        self.path, self.home = path, path.parent / "home"
        self.options = ("--no-wait", "--to", url)
        self.token = {"AUTOGRADER_TOKEN": token}

    def submit(self, *options: str) -> subprocess.CompletedProcess[str]:
        done = submit(self.path, self.home, *self.options, *options, **self.token)
        self.token = {}
        return done

    def answer(self, line: str) -> tuple[int, str]:
        """Submit at a terminal, type a line; return the exit code and the output."""
        ours, theirs = pty.openpty()
        environment = os.environ | {"HOME": str(self.home), "XDG_CONFIG_HOME": str(self.home)}
        with subprocess.Popen(
            [AUTOGRADER, "submit", "--no-check", *self.options],
            cwd=self.path,
            env=environment | {"NO_COLOR": "1", "COLUMNS": "80"},
            stdin=theirs,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        ) as process:
            os.write(ours, f"{line}\n".encode())
            said, _ = process.communicate(timeout=60)
        os.close(ours)
        os.close(theirs)
        return process.returncode, said


@pytest.fixture
def folder(course: Course, week: Week, service: Service, url: str, tmp_path: Path) -> Folder:
    path = tmp_path / "student" / WEEK
    write(path, {"doubling.py": SOLUTION, "week.json": describe_week(course, week)})
    write(path, {f"{WEEK}.ipynb": notebook("Because.")})
    return Folder(path, url, service.accounts.create_token("ada"))


def test_without_a_terminal_it_submits_and_says_what_is_new(folder: Folder, service) -> None:
    done = folder.submit()
    assert done.returncode == 0, done.stderr
    assert "doubling.py" in done.stdout
    assert "Nothing is missing. Your latest submission counts" in " ".join(done.stdout.split())
    assert "Submit?" not in done.stdout
    assert len(service.queue.of_student("ada", WEEK)) == 1


def test_what_is_left_out_is_kept_and_said(folder: Folder, service) -> None:
    folder.submit()
    (folder.path / f"{WEEK}.ipynb").unlink()
    write(folder.path, {"doubling.py": OTHER})
    done = folder.submit("--yes")
    assert "Answer: why  kept from" in done.stdout
    assert "doubling.py  replaces the one from" in done.stdout
    newest = unpacked(service.queue.content(service.queue.of_student("ada", WEEK)[0].digest))
    assert newest["doubling.py"] == OTHER.encode()
    assert b"Because." in newest[f"{WEEK}.ipynb"]


@pytest.mark.parametrize(("line", "submitted"), [("", 2), ("y", 2), ("n", 1)])
def test_at_a_terminal_it_asks_first(folder: Folder, service, line: str, submitted: int) -> None:
    folder.submit()
    write(folder.path, {"doubling.py": OTHER})
    code, said = folder.answer(line)
    assert "Submit? [Y/n]" in said
    assert len(service.queue.of_student("ada", WEEK)) == submitted, said
    assert (code == 2) == (line == "n")
    assert ("nothing was submitted" in said) == (line == "n")


def test_what_cannot_be_graded_is_not_submitted(folder: Folder, service) -> None:
    folder.submit()
    write(folder.path, {"doubling.py": "def double(x:\n"})
    done = folder.submit()
    assert done.returncode == 2
    assert "nothing was submitted. Your submission from" in done.stderr
    assert "doubling.py does not run: line 1" in done.stdout
    assert len(service.queue.of_student("ada", WEEK)) == 1


def test_as_json_the_dialogue_is_on_standard_error(folder: Folder, service) -> None:
    done = folder.submit("--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    (submission,) = service.queue.of_student("ada", WEEK)
    assert (found["week"], found["receipt"]) == (WEEK, submission.receipt)
    assert "Submitted" in done.stderr
