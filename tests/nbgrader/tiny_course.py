"""A course of one small week as text, and helpers that build tests from it."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

from autograder.model.report.schema import (
    Diagnosis,
    Ending,
    ExerciseReport,
    Report,
    SubmissionReport,
    TestReport,
    Verdict,
)

WEEK = "week01_tiny"
REGISTRY = f"""\
course: tiny
title: A tiny course
timezone: Europe/Zurich
weeks:
  - name: {WEEK}
    title: Doubling
    module: doubling.py
    release: 2020-01-06T09:00:00
    due: 2020-01-13T23:59:00
    exercises:
      - {{name: double, points: 2}}
      - {{name: halve, points: 1}}
    questions:
      - {{name: why, points: 3}}
"""
SOLUTION = '''\
"""Doubling."""


def double(x: float) -> float:
    """Twice `x`."""
    # BEGIN SOLUTION
    twice_the_number_that_came_in = x + x
    return twice_the_number_that_came_in
    # END SOLUTION


def halve(x: float) -> float:
    """Half of `x`."""
    # BEGIN SOLUTION
    half_of_the_number_that_came_in = x * 0.5
    return half_of_the_number_that_came_in
    # END SOLUTION
'''
STUB = '''\
"""Doubling."""


def double(x: float) -> float:
    """Twice `x`."""
    raise NotImplementedError("double")


def halve(x: float) -> float:
    """Half of `x`."""
    raise NotImplementedError("halve")
'''
LESSON = """\
# Doubling

![A number and its double](figures/numbers.png)

```python
from autograder import check
```

Write it.

```python
check("double")
```

And the other way round.

```python
check("halve")
```

Why is that so?

<!-- answer: why -->

That was it.
"""
MISCONCEPTION = '''\
"""Squares instead of doubling.

Exercise: double
Believes: two times is to the power of two.
Shows: 3 gives 9.
Hint: Try 3 by hand.
Rejected by: test_values
"""


def double(x: float) -> float:
    squared_because_two_looks_like_a_power = x**2
    return squared_because_two_looks_like_a_power
'''
GRADER = '''\
def test_values(agree):
    """Twice the number."""
    hidden_numbers_that_nobody_may_see = [3.25, -17.5]
    agree.double(hidden_numbers_that_nobody_may_see)
'''
HALVE_GRADER = '''\
def test_values(agree):
    """Half of the number."""
    agree.halve(6.5)
'''
ALTERNATIVE = """\
def double(x: float) -> float:
    return sum_of_a_number_taken_twice([x, x])
"""
ANSWERS = """\
# The written question, answered

## why

### Model answer

Because a number and itself once more are two of that number, as $x + x = 2x$ says.

### Rubric

- **2** says that adding twice is taking twice
- **1** gives an example of their own

### Typical wrong answers

- It is a rule.

  > Whose rule? Lay out three beans twice and *count* them.
"""


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(*chunks: bytes) -> bytes:
    """Return a picture of one grey pixel, with additional chunks."""
    header = chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0))
    data = chunk(b"IDAT", zlib.compress(b"\x00\x80"))
    return b"\x89PNG\r\n\x1a\n" + header + b"".join(chunks) + data + chunk(b"IEND", b"")


def write(root: Path, files: dict[str, str | bytes]) -> None:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)


def graded(student: str, double: float, halve: float) -> SubmissionReport:
    """Return a report in the format of the engine."""

    def exercise(name: str, score: float, points: float) -> ExerciseReport:
        if score == points:
            return ExerciseReport(name, score, points)
        test = TestReport(
            name=f"test_{name}.py::test_values[cpu]",
            verdict=Verdict.WRONG,
            weight=1.0,
            message=f"`{name}` is off",
            claim="Twice the number.",
        )
        squares = Diagnosis("squares", "Squares instead of doubling.", "Try 3 by hand.")
        return ExerciseReport(name, score, points, ("squares",), (test,), (squares,))

    exercises = (exercise("double", double, 2.0), exercise("halve", halve, 1.0))
    return SubmissionReport(student, Ending.GRADED, double + halve, 3.0, 0.1, "", exercises)


def report(*submissions: SubmissionReport) -> Report:
    return Report(WEEK, ("cpu",), submissions)


def write_course(root: Path) -> None:
    write(
        root,
        {
            "course.yaml": REGISTRY,
            f"exercises/{WEEK}/doubling.py": STUB,
            f"exercises/{WEEK}/lesson.md": LESSON,
            f"exercises/{WEEK}/test_doubling.py": "def test_double_of_two():\n    pass\n",
            f"exercises/{WEEK}/README.md": "# Week 1\n",
            f"exercises/{WEEK}/hints.md": "## double\n1. Add it to itself.\n",
            f"solutions/{WEEK}/doubling.py": SOLUTION,
            f"solutions/{WEEK}/answers.md": ANSWERS,
            f"solutions/{WEEK}/misconceptions/squares.py": MISCONCEPTION,
            f"solutions/{WEEK}/alternatives/by_sum.py": ALTERNATIVE,
            f"autograder/graders/{WEEK}/test_double.py": GRADER,
            f"autograder/graders/{WEEK}/test_halve.py": HALVE_GRADER,
            f"assets/{WEEK}/numbers.png": png(),
        },
    )
