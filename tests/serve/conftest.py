"""The tiny course with a released week, and its service, not started."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from autograder.model.course import Course, Week, load
from autograder.nbgrader.workspace import Workspace
from autograder.serve.grading_service import Service
from autograder.serve.login import Login, Person, Role, session_cookie
from autograder.serve.queue import Queue
from autograder.serve.shared_state import Settings
from autograder.serve.tables import metadata, open_database
from autograder.serve.views.routes import application
from tests.nbgrader.tiny_course import REGISTRY, SOLUTION, write_course

# Names a PostgreSQL server on which the queue is to be tried (tests/e2e/test_postgres.py).
SERVER = "AUTOGRADER_QUEUE_DB"
FUTURE = REGISTRY.replace("due: 2020", "due: 2090")


class Clock:
    """A clock that tests set."""

    def __init__(self) -> None:
        self.now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def queue(tmp_path: Path, clock: Clock) -> Iterator[Queue]:
    engine = open_database(os.environ.get(SERVER) or f"sqlite:///{tmp_path / 'queue.db'}")
    yield Queue(engine, clock)
    metadata.drop_all(engine)
    engine.dispose()


@pytest.fixture
def course(tmp_path: Path) -> Course:
    root = tmp_path / "course"
    write_course(root)
    (root / "course.yaml").write_text(FUTURE, "utf-8")
    course = load(root)
    Workspace(course).released(course.weeks[0]).mkdir(parents=True)
    return course


@pytest.fixture
def week(course: Course) -> Week:
    return course.weeks[0]


@pytest.fixture
def service(course: Course) -> Iterator[Service]:
    service = Service(course, Settings(processes=1, process_mib=1024))
    yield service
    service.queue.engine.dispose()


@pytest.fixture
def door(service: Service) -> Login:
    return Login(service.accounts, session_cookie("/", secure=False), "/")


@pytest.fixture
def client(service: Service, door: Login) -> TestClient:
    """Return a browser without a session that does not follow redirects."""
    app = application(service, door)
    return TestClient(app, base_url="http://testserver", follow_redirects=False)


SignIn = Callable[..., tuple[TestClient, Person]]


@pytest.fixture
def sign_in(service: Service, client: TestClient) -> SignIn:
    """Return a function that signs in and returns a browser."""

    def sign_in(name: str, role: Role = "student") -> tuple[TestClient, Person]:
        person = service.accounts.start_session(name, role, "browser")
        own = TestClient(client.app, base_url="http://testserver", follow_redirects=False)
        own.cookies.set("autograder-session", person.key)
        return own, person

    return sign_in


@pytest.fixture
def receipt(service: Service, week: Week) -> str:
    """Return the receipt of a submission by ada."""
    one, _ = service.submissions.submit("ada", week, {"doubling.py": SOLUTION.encode()}, "page")
    return one.receipt
