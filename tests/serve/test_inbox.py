"""Submissions from nbgrader's exchange, to which all users may write."""

from __future__ import annotations

import io
import os
import time
import zipfile
from pathlib import Path

import pytest

from autograder.model.report.schema import Ending, SubmissionReport
from autograder.nbgrader.collect.inbound import submissions_by_student
from autograder.nbgrader.collect.submissions import accept
from autograder.nbgrader.regrade.regrade_log import REQUEST, open_requests
from autograder.nbgrader.workspace import Workspace
from autograder.serve.dispatch import prepare
from autograder.serve.grading_service import Service
from tests.nbgrader.tiny_course import SOLUTION, WEEK, write

STAMP = "2026-01-10 12:00:00.000000 UTC"
LATER = "2026-01-10 13:00:00.000000 UTC"
SECRET = "5" * 128


@pytest.fixture
def inbound(course) -> Path:
    folder = Workspace(course).exchange / course.id / "inbound"
    folder.mkdir(parents=True)
    return folder


def left(inbound: Path, student: str, stamp: str = STAMP, **files: str) -> Path:
    """As `nbgrader submit` leaves it, a while ago."""
    folder = inbound / f"{student}+{WEEK}+{stamp}+abc"
    named = {name.replace("_py", ".py"): text for name, text in files.items()}
    marks = {"timestamp.txt": stamp, "submission_secret.txt": SECRET}
    write(folder, {"doubling.py": SOLUTION, **named, **marks})
    for path in folder.iterdir():
        os.utime(path, (time.time() - 60, time.time() - 60), follow_symlinks=False)
    return folder


def names_in(service: Service, digest: str) -> set[str]:
    with zipfile.ZipFile(io.BytesIO(service.queue.content(digest))) as archive:
        return set(archive.namelist())


def test_what_is_whole_is_taken_once_with_nbgraders_time(service, inbound) -> None:
    left(inbound, "ada")
    assert not service.inbox.look()
    assert not service.inbox.look()
    (one,) = service.queue.of_student("ada", WEEK)
    assert (one.channel, one.state) == ("exchange", "waiting")
    assert one.received == 1768046400.0
    assert names_in(service, one.digest) == {"doubling.py", "submission_secret.txt"}


def test_what_is_still_being_copied_is_waited_for(service, inbound) -> None:
    folder = left(inbound, "ada")
    (folder / "submission_secret.txt").unlink()
    assert service.inbox.look()
    assert service.queue.of_student("ada", WEEK) == []
    (folder / "submission_secret.txt").write_text(SECRET)
    assert service.inbox.look(), "it was changed a moment ago"
    assert service.queue.of_student("ada", WEEK) == []


def test_a_request_for_a_regrade_is_stored(service, inbound, course) -> None:
    left(inbound, "ada", **{REQUEST: "Please look at it again."})
    service.inbox.look()
    assert open_requests(course, course.weeks[0]) == {"ada": "Please look at it again."}


def test_the_newest_is_taken(service, inbound) -> None:
    left(inbound, "ada")
    newer = left(inbound, "ada", LATER)
    service.inbox.look()
    assert [one.source for one in service.queue.of_student("ada", WEEK)] == [newer.name]


def test_a_link_to_a_secret_is_not_followed(service, inbound, course) -> None:
    folder = left(inbound, "ada")
    (folder / "helper.py").symlink_to(course.solution(course.weeks[0]))
    (folder / "more").symlink_to(course.root)
    for name in ("helper.py", "more"):
        os.utime(folder / name, (time.time() - 60, time.time() - 60), follow_symlinks=False)
    service.inbox.look()
    (one,) = service.queue.of_student("ada", WEEK)
    assert names_in(service, one.digest) == {"doubling.py", "submission_secret.txt"}


@pytest.mark.parametrize("name", ["..", "../../x", "a b", "", "x;rm"])
def test_a_folder_of_another_making_is_nobodys(course, inbound, name) -> None:
    stamped = f"{name}+{WEEK}+{STAMP}+abc".replace("/", "_")
    (inbound / stamped).mkdir()
    (inbound / f"ada+{WEEK}+yesterday+abc").mkdir()
    (inbound / f"eve+{WEEK}+{STAMP}+abc").symlink_to(course.root)
    assert submissions_by_student(course, course.weeks[0]) == {}


def test_a_name_with_a_plus_is_collected_but_not_graded_by_the_service(
    service, inbound, course
) -> None:
    (inbound / f"a+b+{WEEK}+{STAMP}+abc").mkdir()
    assert [*submissions_by_student(course, course.weeks[0])] == ["a+b"]
    service.inbox.look()
    assert not service.queue.of_student("a+b", WEEK)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_what_the_student_owns_goes_before_what_another_left_later(course, inbound) -> None:
    own = left(inbound, "nobody")  # a name that every machine has
    os.chown(own, 65534, 65534)
    left(inbound, "nobody", LATER)
    ((found, _),) = submissions_by_student(course, course.weeks[0]).values()
    assert (found.source, found.own) == (own.name, True)


def test_what_was_collected_or_settled_before_is_not_taken_again(service, inbound, course) -> None:
    week = course.weeks[0]
    left(inbound, "ada")
    write(Workspace(course).submitted("ada", week), {"timestamp.txt": STAMP})
    left(inbound, "alan")
    accept(course, week, "alan", {"doubling.py": SOLUTION.encode()}, LATER, "service")
    service.inbox.look()
    assert service.queue.of_student("ada", WEEK) == service.queue.of_student("alan", WEEK) == []


def test_what_cannot_be_graded_is_refused_and_replaces_nothing(service, inbound, course) -> None:
    left(inbound, "ada")
    service.inbox.look()
    left(inbound, "ada", LATER, doubling_py="")
    service.inbox.look()
    refused = service.queue.claim()
    content = service.queue.content(refused.digest)
    problem = prepare(course, course.weeks[0], refused, content).submission.problem
    assert "doubling.py is empty" in problem
    report = SubmissionReport("ada", Ending.REFUSED, 0.0, 3.0, 0.0, problem)
    service.queue.finish(refused, report, 0.1)
    refused, good = service.queue.of_student("ada", WEEK)
    assert (good.state, good.withheld) == ("waiting", False)
    assert refused.withheld  # it uses up no attempt
    assert service.submissions.base("ada", course.weeks[0]).received == good.received
