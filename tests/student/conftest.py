"""Two released weeks: a tiny one without torch, whose checks run quickly, and the real week 1."""

from __future__ import annotations

import datetime as dt
import shutil
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from autograder.model.course import Course, load
from autograder.model.course.bank import Bank
from autograder.student.folder.week import (
    WeekExercise,
    WeekFile,
    WeekFolder,
    WeekQuestion,
    describe_week,
    open_folder,
)

ROOT = Path(__file__).resolve().parents[2]

STUB = '''"""The tiny week."""

SCALE = 2


def helper(x):
    return SCALE * x


def double(x):
    """Twice x."""
    # TODO
    raise NotImplementedError("double")


def double_all(xs):
    raise NotImplementedError("double_all")


def shout(text):
    raise NotImplementedError("shout")
'''
SOLVED = {
    "double": "def double(x):\n    return helper(x)\n",
    "double_all": "def double_all(xs):\n    return [double(x) for x in xs]\n",
    "shout": "def shout(text):\n    return text.upper()\n",
}
CHECKS = '''
import pytest


def test_double_three():
    from tiny import double

    assert double(3) == 6, f"twice 3 is 6, not {double(3)}"


def test_double_nothing():
    """Twice zero is zero."""
    from tiny import double

    assert double(0) == 0, "twice 0 is 0"


@pytest.mark.parametrize("xs", [[], [1, 2]])
def test_double_all_of_them(xs):
    from tiny import double_all

    assert double_all(xs) == [2 * x for x in xs], "each of them twice"


def test_shout_loudly():
    from tiny import shout

    assert shout("a") == "A", "a small a becomes a large one"
'''
HINTS = """# Hints

## double
1. Think of a sum
   of two.
2. There is a `helper`.

## shout
1. Strings know how.
"""
LESSON = """# Lesson

## 1 · Doubling

```python
check("double")
```

## 2 · Shouting

```python
check("shout")
```
"""
WEEK = WeekFile(
    week="week03_tiny",
    title="Tiny",
    module="tiny.py",
    due=dt.datetime(2027, 1, 18, 23, 59, tzinfo=dt.UTC),
    exercises=(
        WeekExercise("double", 2),
        WeekExercise("double_all", 3, not_allowed=("map*",)),
        WeekExercise("shout", 1),
    ),
    questions=(WeekQuestion("why", 2),),
    stub=STUB,
)


@pytest.fixture
def tiny(tmp_path: Path) -> WeekFolder:
    """Create the tiny week as released."""
    folder = tmp_path / WEEK.week
    folder.mkdir()
    (folder / "week.json").write_bytes(msgspec.json.encode(WEEK))
    (folder / "tiny.py").write_text(STUB, encoding="utf-8")
    (folder / "test_tiny.py").write_text(CHECKS, encoding="utf-8")
    (folder / "hints.md").write_text(HINTS, encoding="utf-8")
    (folder / "lesson.md").write_text(LESSON, encoding="utf-8")
    return open_folder(folder)


@pytest.fixture
def write(tiny: WeekFolder) -> Callable[..., WeekFolder]:
    """Write the tiny module: the stub, overridden by these definitions."""

    def write(*definitions: str) -> WeekFolder:
        tiny.module.write_text("\n\n".join([STUB, *definitions]), encoding="utf-8")
        return tiny

    return write


@pytest.fixture(scope="session")
def course() -> Course:
    return load(ROOT)


@pytest.fixture
def week1(course: Course, tmp_path: Path) -> Path:
    """Week 1 as released, without the rest of the project."""
    week = course.week("week01")
    folder = tmp_path / week.name
    folder.mkdir()
    for name in ("README.md", "hints.md", "lesson.md", f"test_{week.module}"):
        shutil.copy(course.exercise_folder(week) / name, folder)
    for name in week.files:
        (folder / name).parent.mkdir(exist_ok=True)
        shutil.copy(course.root / "assets" / name, folder / name)
    (folder / "week.json").write_bytes(describe_week(course, week))
    (folder / week.module).write_text(open_folder(folder).week.stub, encoding="utf-8")
    return folder


@pytest.fixture(scope="session")
def bank(course: Course) -> Bank:
    return Bank(course, course.week("week01"))
