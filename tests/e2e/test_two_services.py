"""Test two services on one queue, with PostgreSQL: exactly one grades each submission.

`make e2e` runs it.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from autograder.model.course import load
from autograder.nbgrader.gradebook.database import read_gradebook
from autograder.nbgrader.release.publish import release
from tests.nbgrader.tiny_course import SOLUTION, WEEK, write_course
from tests.postgres import NEEDS, Server, postgres
from tests.serve.conftest import FUTURE
from tests.serve.running import Running, hand_in, result, running, until

pytestmark = NEEDS
STUDENTS = [f"s{number}" for number in range(8)]


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with postgres() as server:
        yield server


@pytest.fixture(scope="module")
def both(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Running]]:
    """Return two copies of the project, as if on two machines."""
    first = tmp_path_factory.mktemp("first") / "course"
    write_course(first)
    policy = "immediate: {show: scores, tries: 100}\n"
    (first / "course.yaml").write_text(FUTURE + policy, "utf-8")
    course = load(first)
    release(course, course.weeks[0])
    roster = first / "class.csv"
    roster.write_text("student,name\n" + "".join(f"{s},\n" for s in STUDENTS), "utf-8")
    Running(first).command("roster", str(roster))
    second = tmp_path_factory.mktemp("second") / "course"
    shutil.copytree(first, second)
    options = ("--jobs", "1", "--device", "cpu", "--db", server.url)
    with ExitStack() as stack:
        found = []
        for root in (first, second):
            service = Running(root, *options, PGPASSWORD=server.password)
            found.append(stack.enter_context(running(service)))
        yield found


Enter = Callable[..., Any]


@pytest.fixture
def enter(server: Server) -> Iterator[Enter]:
    """Sign in at a service; the key is valid for both."""
    with ExitStack() as stack:

        def enter(service: Running, name: str, role: str = "--student") -> Any:
            token = service.tokens(role, name, "--db", server.url)[name]
            return stack.enter_context(service.enter(token))

        yield enter


def recorded(root: Path) -> set[str]:
    """Return the students with a score in the gradebook of a project."""
    _, entries = read_gradebook(load(root))
    return {e.student for e in entries if e.graded}


def test_each_hand_in_is_graded_by_one_of_both(
    both: list[Running], server: Server, enter: Enter
) -> None:
    people = {name: enter(both[0], name) for name in STUDENTS}
    receipts = {}
    for number, name in enumerate(STUDENTS):
        people[name].base_url = both[number % 2].url
        work = {"doubling.py": f"{SOLUTION}# {name}\n".encode()}
        receipts[name] = hand_in(people[name], WEEK, work)["receipt"]
    for number, name in enumerate(STUDENTS):
        people[name].base_url = both[1 - number % 2].url  # the other service accepts it too
        assert result(people[name], receipts[name])["result"]["score"] == 3.0
    assert server.asked("select count(*), max(attempts), min(attempts) from submissions") == "8|1|1"
    assert server.asked("select count(*) from results") == "8"
    assert server.asked("select count(distinct owner) from submissions") == "2"


def test_one_of_both_tells_the_gradebook_and_the_other_after_it(
    both: list[Running], enter: Enter
) -> None:
    first, second = (service.course for service in both)
    until(lambda: len(recorded(first) | recorded(second)) == len(STUDENTS), 120, every=0.5)
    assert not recorded(first) & recorded(second)
    assert len(recorded(second)) in (0, len(STUDENTS))
    both[0].kill()
    name = STUDENTS[0]
    client = enter(both[1], name)
    receipt = hand_in(client, WEEK, {"doubling.py": f"{SOLUTION}# again\n".encode()})
    assert result(client, receipt["receipt"])["result"]["score"] == 3.0
    until(lambda: name in recorded(second), 120, every=0.5)
