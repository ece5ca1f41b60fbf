"""A warm template of each backend that works here, and children of it."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from autograder.sandbox import Child, ChildLimits, Template
from tests.sandbox.sandbox_inside import HOST_SECRET, Spawn, require, start


@pytest.fixture(scope="session", params=["bubblewrap", "landlock"])
def backend(request: pytest.FixtureRequest) -> str:
    require(request.param)
    return str(request.param)


@pytest.fixture(scope="session")
def template(backend: str) -> Iterator[Template]:
    os.environ["HOST_SECRET"] = HOST_SECRET
    with start(backend) as template:
        yield template
    del os.environ["HOST_SECRET"]


@pytest.fixture
def spawn(template: Template) -> Iterator[Spawn]:
    children: list[Child] = []

    def spawn(**limits: int) -> Child:
        children.append(template.spawn(ChildLimits(**limits)))
        return children[-1]

    yield spawn
    for child in children:
        child.close()


@pytest.fixture(scope="session")
def witness(template: Template) -> Iterator[Child]:
    """Yield a child that tests share because they do not change it."""
    with template.spawn(ChildLimits()) as child:
        yield child


@pytest.fixture
def child(spawn: Spawn) -> Child:
    return spawn()
