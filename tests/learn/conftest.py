"""A learner of the tiny course: the folder, the pages without a server, and the whole command."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from autograder.learn.learner_record import LearnerFolder
from autograder.learn.live_grading import LiveGrading
from autograder.learn.local_site import LearnerSite
from autograder.model.course import Course, Week, load
from tests.learn.running import Learning
from tests.nbgrader.tiny_course import write_course

PORT = 8765


@pytest.fixture
def course(tmp_path: Path) -> Course:
    write_course(tmp_path / "course")
    return load(tmp_path / "course")


@pytest.fixture
def week(course: Course) -> Week:
    return course.weeks[0]


@pytest.fixture
def learner(course: Course, tmp_path: Path) -> LearnerFolder:
    return LearnerFolder(course, tmp_path / "learn")


@pytest.fixture
def stranger(learner: LearnerFolder) -> TestClient:
    """Return a client that does not know the printed address."""
    site = LearnerSite(learner, LiveGrading(learner, "none"), None)
    url = f"http://127.0.0.1:{PORT}"
    return TestClient(site.application(), base_url=url, follow_redirects=False)


@pytest.fixture
def browser(stranger: TestClient, learner: LearnerFolder) -> TestClient:
    """Return a client that has opened the printed address and sends what a browser sends."""
    stranger.base_url = stranger.base_url.join(f"/{learner.key}/")
    stranger.headers["origin"] = f"http://127.0.0.1:{PORT}"
    return stranger


@pytest.fixture
def learning(course: Course, tmp_path: Path) -> Iterator[Learning]:
    """Return `autograder learn` of the tiny course, not started."""
    command = Learning(course.root, tmp_path / "learn")
    with command.client:
        yield command
        command.kill()
