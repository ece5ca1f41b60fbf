"""The fixtures of hidden tests. Each test gets its own `case`, from the plugin that runs it."""

from __future__ import annotations

import pytest

from ..assertions.agree import Agree
from ..assertions.calls import Calls, Count
from ..assertions.case import Case
from ..assertions.inputs import Draw
from ..assertions.refuse import Refuses


@pytest.fixture
def submission(case: Case) -> Calls:
    return Calls(case, case.student)


@pytest.fixture
def reference(case: Case) -> Calls:
    return Calls(case, case.reference)


@pytest.fixture
def agree(case: Case) -> Agree:
    return Agree(case)


@pytest.fixture
def refuses(case: Case) -> Refuses:
    return Refuses(case)


@pytest.fixture
def count(case: Case) -> Count:
    return Count(case)


@pytest.fixture
def draw(case: Case) -> Draw:
    return case.draw
