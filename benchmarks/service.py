"""Load-test the service before a deadline, and test recovery after the service is killed.

    python -m benchmarks.service load  --students 400 --minutes 60
    python -m benchmarks.service kills --kills 100

`load` simulates the last minutes before a deadline, with more and more submissions. `kills` sends
SIGKILL to the service repeatedly while students submit. Each command writes a table to
benchmarks/SERVICE.md. Simulated students send HTTP requests with httpx; the service, the engine,
the database and nbgrader's gradebook are not simulated.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import random
import re
import shutil
import sqlite3
import statistics
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

import httpx
import psutil

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from autograder.model.course import Course, load  # noqa: E402
from autograder.model.course.bank import Bank  # noqa: E402
from autograder.nbgrader.gradebook.database import read_gradebook  # noqa: E402
from autograder.nbgrader.release.publish import release  # noqa: E402
from autograder.sandbox.processes import orphans  # noqa: E402
from autograder.serve.grading_service import DATABASE  # noqa: E402
from autograder.serve.login import Accounts, Role  # noqa: E402
from autograder.serve.tables import open_database  # noqa: E402
from tests.courses import copy_course  # noqa: E402
from tests.nbgrader.tiny_course import SOLUTION, write_course  # noqa: E402
from tests.serve.conftest import FUTURE  # noqa: E402
from tests.serve.running import JSON, Running, until  # noqa: E402

RESULTS = ROOT / "benchmarks" / "SERVICE.md"
_AS_USUAL = ("--nice", "10")
_HEAD = """\
# Load and recovery of the service

Written by `python -m benchmarks.service`.

Other programs ran on the machine at the same time: see `load average before`.
"""


def made(folder: Path, students: list[str], *, tiny: bool) -> Course:
    """Create a course with these students, and release its first week.

    tiny: use a week with two trivial exercises instead of week01_softmax
    """
    root = folder / "course"
    if tiny:
        write_course(root)
        (root / "course.yaml").write_text(FUTURE, "utf-8")
    else:
        copy_course(root, weeks=("week01_softmax",))
    policy = "immediate: {show: verdicts, tries: 1000}\n"
    with (root / "course.yaml").open("a", encoding="utf-8") as file:
        file.write(policy)
    course = load(root)
    release(course, course.weeks[0], early=True)
    roster = root / "class.csv"
    roster.write_text("student,name\n" + "".join(f"{s},\n" for s in students), "utf-8")
    Running(root).command("roster", str(roster))
    return course


def clients(course: Course, url: str, students: list[str]) -> dict[str, httpx.AsyncClient]:
    """Return an authenticated HTTP client for each student."""
    people = Accounts(open_database(f"sqlite:///{course.state / DATABASE}"))
    found = {}
    for name in students:
        key = people.start_session(name, "student", "program").key
        headers = JSON | {"authorization": f"Bearer {key}"}
        found[name] = httpx.AsyncClient(base_url=url, headers=headers, timeout=60)
    people.engine.dispose()
    return found


# The hour before the deadline


class Handed:
    """A submission as its student saw it.

    sent, answered, done: times of the request, the receipt and the result
    promised: the service's estimate of the time until the result, in seconds
    """

    def __init__(self) -> None:
        self.receipt, self.sent, self.answered = "", 0.0, 0.0
        self.promised, self.done, self.state = 0.0, 0.0, ""


async def hand_in(client: httpx.AsyncClient, week: str, module: str, source: str) -> Handed:
    """Submit a file, and poll at the interval that the service requests until there is a result."""
    one = Handed()
    one.sent = time.monotonic()
    sent = [("files", (module, source.encode()))]
    answer = await client.post(f"/weeks/{week}/tries", files=sent)
    one.answered = time.monotonic()
    answer.raise_for_status()
    said = answer.json()
    one.receipt, one.promised = said["receipt"], float(said["seconds"])
    while not one.done:
        await asyncio.sleep(said["refresh"])
        said = (await client.get(f"/tries/{one.receipt}")).json()
        if said["state"] in ("graded", "replaced"):
            one.state, one.done = said["state"], time.monotonic()
    return one


def arrivals(students: list[str], tries: int, seconds: float, draw: random.Random) -> list[Any]:
    """Draw the times of all submissions; return sorted pairs of a time in seconds and a student.

    The arrival rate increases until the deadline. Three bursts have up to 60 submissions within ten
    seconds each.
    """
    found = [(seconds * draw.betavariate(2, 1), name) for name in students for _ in range(tries)]
    for burst in (0.3, 0.6, 0.95):
        chosen = draw.sample(range(len(found)), min(60, len(found)))
        for number in chosen:
            found[number] = (burst * seconds + draw.uniform(0, 10), found[number][1])
    return sorted(found)


async def storm(
    course: Course, url: str, students: list[str], tries: int, minutes: float
) -> tuple[list[Handed], list[Handed]]:
    """Submit one file at a time to the idle service, then all others at the drawn times.

    Return the submissions of both phases.
    """
    week = course.weeks[0]
    bank = Bank(course, week)
    sources = [bank.solution] + [_whole(bank, m) for m in bank.misconceptions]
    draw = random.Random(7)
    own = clients(course, url, students)

    def source(number: int) -> str:
        return f"{draw.choice(sources)}\n# {number}\n"

    await hand_in(own[students[0]], week.name, week.module, source(0))  # warm-up: starts an engine
    idle = []
    for number, name in enumerate(students[:15]):
        idle.append(await hand_in(own[name], week.name, week.module, source(-number - 1)))
    started, tasks = time.monotonic(), []
    for number, (when, name) in enumerate(arrivals(students, tries, minutes * 60, draw)):
        await asyncio.sleep(max(0.0, started + when - time.monotonic()))
        work = hand_in(own[name], week.name, week.module, source(number))
        tasks.append(asyncio.create_task(work))
    busy = await asyncio.gather(*tasks)
    for client in own.values():
        await client.aclose()
    return idle, list(busy)


def _whole(bank: Bank, wrong: Any) -> str:
    return str(wrong.source)


def share(values: list[float], part: float) -> float:
    """Return a quantile of the values; `part` is between 0 and 1."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(part * len(ordered)))]


def run_load(students: int, tries: int, minutes: float, jobs: int) -> str:
    names = [f"s{n:03}" for n in range(students)]
    with tempfile.TemporaryDirectory(prefix="autograder-load-") as folder:
        course = made(Path(folder), names, tiny=False)
        service = Running(course.root, *_AS_USUAL, "--jobs", str(jobs), "--device", "cpu")
        service.start()
        before = os.getloadavg()[0]
        try:
            idle, busy = asyncio.run(storm(course, service.url, names, tries, minutes))
            receipts = {one.receipt for one in (*idle, *busy)}
            until(lambda: settled(course), 900, every=1.0)
        finally:
            service.stop()
        lost = receipts - known(course)
    answers = [1000 * (b.answered - b.sent) for b in busy]
    graded = [b for b in busy if b.state == "graded"]
    waits = [b.done - b.sent for b in graded]
    within = sum(b.done - b.answered <= b.promised + 1 for b in graded) / len(graded)
    idle_waits = [i.done - i.sent for i in idle]
    rows = {
        "students, submissions each, minutes": f"{students}, {tries}, {minutes:g}",
        "grading processes, cores, load average before": f"{jobs}, {os.cpu_count()}, {before:.1f}",
        f"time to result if idle: median, maximum of {len(idle)}": (
            f"{statistics.median(idle_waits):.1f} s, {max(idle_waits):.1f} s"
        ),
        "time to receipt: median, 99th percentile, maximum": (
            f"{statistics.median(answers):.0f} ms, {share(answers, 0.99):.0f} ms, "
            f"{max(answers):.0f} ms"
        ),
        "submissions, graded, replaced by a newer one": (
            f"{len(busy)}, {len(graded)}, {len(busy) - len(graded)}"
        ),
        "time to result: median, 95th percentile, maximum": (
            f"{statistics.median(waits):.1f} s, {share(waits, 0.95):.1f} s, {max(waits):.1f} s"
        ),
        "results within the estimated time": f"{100 * within:.0f} %",
        "receipts lost": str(len(lost)),
    }
    small = f"{students} students at once"
    return table("The hour before the deadline" if students >= 400 else small, rows)


def signed_in(course: Course, url: str, name: str, role: Role = "student") -> httpx.Client:
    """Return an authenticated HTTP client for one user."""
    people = Accounts(open_database(f"sqlite:///{course.state / DATABASE}"))
    key = people.start_session(name, role, "program").key
    people.engine.dispose()
    headers = JSON | {"authorization": f"Bearer {key}"}
    return httpx.Client(base_url=url, headers=headers, timeout=10)


def rows_of(course: Course, query: str) -> list[Any]:
    with sqlite3.connect(course.state / DATABASE) as database:
        return database.execute(query).fetchall()


def settled(course: Course) -> bool:
    """Return True if the newest result of each student is recorded in the gradebook."""
    late = """
    SELECT COUNT(*) FROM (
      SELECT t.student, t.week, MAX(r.graded) AS newest
      FROM submissions t JOIN results r ON r.receipt = t.receipt GROUP BY t.student, t.week) AS n
    LEFT JOIN recorded s ON s.student = n.student AND s.week = n.week
    WHERE s.graded IS NULL OR s.graded < n.newest
    """
    return bool(rows_of(course, late)[0][0] == 0)


def known(course: Course) -> set[str]:
    """Return the receipts of all submissions in the database."""
    return {r for (r,) in rows_of(course, "SELECT receipt FROM submissions")}


# A hundred kills


class Persistent(threading.Thread):
    """A student who keeps submitting, even while the service is down."""

    def __init__(self, name: str, course: Course, url: str, ends: threading.Event) -> None:
        super().__init__(daemon=True)
        self.student, self.week, self.ends = name, course.weeks[0].name, ends
        self.client = signed_in(course, url, name)
        self.receipts: list[str] = []
        self.draw = random.Random(name)

    def run(self) -> None:
        number = 0
        while not self.ends.is_set():
            number += 1
            wrong = self.draw.random() < 0.5
            source = SOLUTION.replace("x + x", "x**2") if wrong else SOLUTION
            work = f"{source}\n# {self.student} {number}\n".encode()
            try:
                answer = self.client.post(
                    f"/weeks/{self.week}/tries", files=[("files", ("doubling.py", work))]
                )
                if answer.status_code == 201:
                    self.receipts.append(answer.json()["receipt"])
            except (httpx.TransportError, ValueError):
                pass  # the service is down, and the student has no receipt
            self.ends.wait(self.draw.uniform(2, 20))


def run_kills(kills: int, students: int, jobs: int) -> str:
    names = [f"s{n:02}" for n in range(students)]
    draw = random.Random(11)
    with tempfile.TemporaryDirectory(prefix="autograder-kills-") as folder:
        course = made(Path(folder), names, tiny=True)
        service = Running(course.root, "--jobs", str(jobs), "--device", "cpu")
        service.start()
        ends = threading.Event()
        class_ = [Persistent(n, course, service.url, ends) for n in names]
        for student in class_:
            student.start()
        states: Counter[str] = Counter()
        began, left, still = time.monotonic(), 0, 0
        for _ in range(kills):
            # kill the service while its processes start, or after some more results
            if draw.random() > 1 / 3:
                wanted = results(course) + draw.randint(1, 4)
                until(lambda wanted=wanted: results(course) >= wanted, 300, every=0.1)
            time.sleep(draw.uniform(0.1, 3))
            assert service.process is not None
            session = service.process.pid
            service.kill()
            until(lambda session=session: not living(session), 30, every=0.1)
            left += len(orphans())
            by_state = "SELECT state, COUNT(*) FROM submissions GROUP BY state"
            for state, count in rows_of(course, by_state):
                states[state] += count
            service.start()
        ends.set()
        for student in class_:
            student.join()
        until(lambda: not waiting(course), 600, every=0.5)
        until(lambda: settled(course), 600, every=0.5)
        service.stop()
        still = len(orphans())
        report = verdict(course, [r for s in class_ for r in s.receipts])
        took = time.monotonic() - began
        wrong = wrong_in_gradebook(course)
        shutil.rmtree(course.root)
    rows = {
        "kills (SIGKILL of the service), minutes": f"{kills}, {took / 60:.0f}",
        "students, grading processes": f"{students}, {jobs}",
        "receipts": str(report["given"]),
        "graded, replaced by a newer submission": f"{report['graded']}, {report['replaced']}",
        "lost": str(report["lost"]),
        "receipts with two results": str(report["twice"]),
        "submissions being graded, queued, at the time of a kill": (
            f"{states['running']}, {states['waiting']}"
        ),
        "orphaned sandboxes after a kill, at the end": f"{left}, {still}",
        "students whose score in the gradebook is not their latest result": str(wrong),
    }
    return table("A hundred kills" if kills == 100 else f"{kills} kills", rows)


def results(course: Course) -> int:
    return int(rows_of(course, "SELECT COUNT(*) FROM results")[0][0])


def living(session: int) -> list[int]:
    """Return the ids of a session's running processes, without zombies."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            if os.getsid(process.pid) == session and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process.pid)
    return found


def waiting(course: Course) -> int:
    query = "SELECT COUNT(*) FROM submissions WHERE state IN ('waiting', 'running')"
    return int(rows_of(course, query)[0][0])


def verdict(course: Course, receipts: list[str]) -> dict[str, int]:
    """Count what happened to the submissions with these receipts."""
    states = dict(rows_of(course, "SELECT receipt, state FROM submissions"))
    twice = "SELECT COUNT(*) FROM (SELECT receipt FROM results GROUP BY receipt HAVING COUNT(*)>1)"
    ends = Counter(states.get(r, "lost") for r in receipts)
    return {
        "given": len(receipts),
        "graded": ends["graded"],
        "replaced": ends["replaced"],
        "lost": len(receipts) - ends["graded"] - ends["replaced"],
        "twice": int(rows_of(course, twice)[0][0]),
    }


def wrong_in_gradebook(course: Course) -> int:
    """Count students whose score in the gradebook differs from their latest result."""
    last = """
    SELECT t.student, r.score FROM submissions t JOIN results r ON r.receipt = t.receipt
    WHERE t.number = (SELECT MAX(u.number) FROM submissions u
                      JOIN results q ON q.receipt = u.receipt WHERE u.student = t.student)
    """
    wanted = {s: float(score) for s, score in rows_of(course, last)}
    _, entries = read_gradebook(course)
    held = {e.student: e.score for e in entries}
    return sum(abs(held.get(s, -1) - score) > 1e-6 for s, score in wanted.items())


# Results


def table(title: str, rows: dict[str, str]) -> str:
    lines = [f"## {title}", "", "| quantity | value |", "| --- | --- |"]
    return "\n".join([*lines, *(f"| {name} | {value} |" for name, value in rows.items()), ""])


def write(section: str) -> None:
    """Write a section to SERVICE.md; it replaces a section with the same title."""
    text = RESULTS.read_text("utf-8") if RESULTS.exists() else _HEAD
    title = section.split("\n")[0]
    parts = re.split(r"(?m)^(?=## )", text)
    kept = [p.rstrip() for p in parts if not p.startswith(title)]
    RESULTS.write_text("\n\n".join([*kept, section.rstrip()]) + "\n", "utf-8")
    print(section)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("load", "kills"))
    parser.add_argument("--students", type=int, default=400)
    parser.add_argument("--tries", type=int, default=3)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    asked = parser.parse_args()
    if asked.what == "load":
        write(run_load(asked.students, asked.tries, asked.minutes, asked.jobs))
    else:
        write(run_kills(asked.kills, min(asked.students, 25), asked.jobs))


if __name__ == "__main__":
    main()
