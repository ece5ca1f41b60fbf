"""A full disk, an unreachable database, malicious archives."""

from __future__ import annotations

import asyncio
import io
import random
import sqlite3
import stat
import zipfile

import pytest
from sqlalchemy import event
from sqlalchemy.exc import OperationalError

from autograder.model.errors import IntakeError, KitError
from autograder.model.report.schema import Diagnosis, Ending, ExerciseReport, SubmissionReport
from autograder.serve import dispatch
from autograder.serve.submissions.upload import accept_files
from autograder.serve.tables import QueuedSubmission, open_database
from autograder.serve.views.class_view import class_view, recent_mistakes
from tests.nbgrader.tiny_course import SOLUTION, WEEK


def test_on_a_full_disk_nothing_is_received_and_later_all_is_well(sign_in, service, week):
    client, person = sign_in("ada")
    path, form = f"/weeks/{week.name}/tries", {"key": person.form_key}
    work = [("files", ("doubling.py", SOLUTION.encode())), ("files", ("data.txt", _noise()))]
    with service.queue.engine.connect() as db:
        pages = db.exec_driver_sql("PRAGMA page_count").scalar()
    events = service.queue.engine

    def full(connection, *_):
        connection.execute(f"PRAGMA max_page_count={pages + 1}")

    event.listen(events, "connect", full)
    events.dispose()
    answer = client.post(path, data=form, files=work)
    assert answer.status_code == 503
    assert "were not received" in answer.text
    assert service.queue.of_student("ada", WEEK) == []
    event.remove(events, "connect", full)
    events.dispose()
    assert client.post(path, data=form, files=work).status_code == 303
    assert len(service.queue.of_student("ada", WEEK)) == 1


def _noise() -> bytes:
    """Return bytes that cannot be compressed."""
    return random.Random(1).randbytes(200_000)


def test_a_result_is_written_as_soon_as_the_database_answers(service, monkeypatch):
    monkeypatch.setattr(dispatch, "WRITE_RETRY_SECONDS", 0.0)
    times = []

    def write() -> None:
        times.append(set(service.incidents.current))
        if len(times) < 3:
            raise OperationalError("INSERT", {}, Exception("the server closed the connection"))

    asyncio.run(service.dispatcher.retry_write(write))
    assert times == [set(), {"writing"}, {"writing"}]
    assert "writing" not in service.incidents.current


def test_a_database_of_an_earlier_version_is_refused_and_left_alone(tmp_path):
    path = tmp_path / "serve.db"
    with sqlite3.connect(path) as old:
        old.execute("CREATE TABLE tries (receipt TEXT)")
    with pytest.raises(KitError, match="created by a version before"):
        open_database(f"sqlite:///{path}")
    with sqlite3.connect(path) as old:
        assert old.execute("SELECT name FROM sqlite_master").fetchall() == [("tries",)]


def test_a_database_of_another_kind_is_refused_in_one_line():
    with pytest.raises(KitError, match="must look like"):
        open_database("mysql://root:secret@host/db")
    with pytest.raises(KitError) as caught:
        open_database("postgresql+psycopg://ada:hunter2@127.0.0.1:9/none")
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize("url", ["sqlite:///", "sqlite:////no/such/folder/service.db"])
def test_a_database_file_that_cannot_exist_is_refused_in_one_line(url):
    with pytest.raises(KitError, match=r"^--db"):
        open_database(url)


def zipped(entries: dict[str, bytes], mode: int = 0o644) -> dict[str, bytes]:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in entries.items():
            info = zipfile.ZipInfo(name)
            info.external_attr = mode << 16
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, data)
    return {"work.zip": stream.getvalue()}


def take(course, files: dict[str, bytes]) -> dict[str, bytes]:
    week = course.weeks[0]
    return accept_files(files, week, course.limits(week))[0]


def test_a_bomb_is_not_unpacked(course):
    with pytest.raises(IntakeError):
        take(course, zipped({"doubling.py": bytes(200 << 20)}))


def test_an_archive_of_too_many_names_is_not_even_listed(course):
    with pytest.raises(IntakeError, match="too many files"):
        take(course, zipped({f"f{n}.py": b"" for n in range(2500)}))


def test_an_archive_in_an_archive_stays_shut(course):
    inner = zipped({"doubling.py": SOLUTION.encode()})
    with pytest.raises(IntakeError):
        take(course, zipped(inner))


def test_a_link_in_an_archive_is_left_out(course):
    with pytest.raises(IntakeError):
        take(course, zipped({"doubling.py": b"/etc/passwd"}, stat.S_IFLNK | 0o777))


@pytest.mark.parametrize("data", [b"", b"PK", b"PK\x03\x04" + b"\0" * 100, b"PK\x01\x02" * 3000])
def test_what_only_claims_to_be_an_archive_is_refused(course, data):
    with pytest.raises(IntakeError):
        take(course, {"work.zip": data})


def test_more_files_than_a_week_has_are_refused(course):
    with pytest.raises(IntakeError, match="more than 200 files"):
        take(course, {f"f{n}.py": b"x" for n in range(201)})


# The class view


def report(*titles: str) -> SubmissionReport:
    named = tuple(Diagnosis(t, f"{t}.", "") for t in titles)
    double = ExerciseReport("double", 1.0, 3.0, explained=named)
    return SubmissionReport("ada", Ending.GRADED, 1.0, 3.0, 0.1, exercises=(double,))


def tried(student: str, number: int, *titles: str) -> tuple[QueuedSubmission, SubmissionReport]:
    received = float(number)
    one = QueuedSubmission(f"R{number}", student, WEEK, "page", "d", received, "graded")
    return one, report(*titles)


def test_the_mistakes_of_the_newest_results_are_counted():
    recent = [
        tried("ada", 1, "Squares"),
        tried("ada", 2),
        tried("alan", 3, "Squares"),
        tried("eve", 4, "Squares", "Halves"),
    ]
    found = [(m.title, [s.student for s in m.students]) for m in recent_mistakes(recent)]
    assert found == [("Squares.", ["alan", "eve"]), ("Halves.", ["eve"])]


def test_results_in_a_row_with_the_same_mistake_are_counted():
    three = [tried("ada", n, "Squares", "Halves") for n in range(2)]
    three += [tried("ada", 5, "Squares")]
    mended = [tried("alan", n, "Squares") for n in (6, 7, 8)]
    mended += [tried("alan", 9)]
    (mistake,) = recent_mistakes([*three, *mended])
    assert [(s.student, s.repetitions) for s in mistake.students] == [("ada", 3)]


def test_the_view_says_what_is_wrong(service, receipt):
    service.incidents.open("gradebook", "the gradebook is locked")
    view = class_view(service.state, service.ledger, service.processes)
    assert view.waiting == 1
    assert [r.submission.receipt for r in view.rows] == [receipt]
    assert any("the gradebook is locked" in t for t in view.incidents)
