"""Test that answers with objects, printed output and function arguments stay bounded."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from autograder.grading.engine import Engine
from autograder.model.course import load
from autograder.model.report.schema import Verdict

TINY = Path(__file__).resolve().parents[1] / "golden" / "course"
SOLUTION = """
from dataclasses import dataclass

@dataclass
class Box:
    items: list

    def __len__(self):
        return len(self.items)

    def __getitem__(self, place):
        return self.items[place]

    def __contains__(self, item):
        return item in self.items

    def __setitem__(self, place, item):
        self.items[place] = item

    def __add__(self, other):
        return self.items + other


def weigh(f, items):
    items = [f(i) for i in items]
    print("there are", len(items), "items")
    return {"most": max(items), "all": tuple(items)}


class Scale:
    # BEGIN SOLUTION
    pass
    # END SOLUTION
"""
TESTS = '''
from autograder.authors import expect, function, generator


def test_length(agree):
    """The length."""
    assert len(agree.Box([1, 2, 3])) == 3


def test_alone(submission):
    """The length of one side."""
    box = submission.Box([1, 2, 3])
    expect(len(box) == 3 and box[1] == 2 and 3 in box and box[0:2] == [1, 2], "It should hold 3.")


def test_items(agree):
    """Its items."""
    box = agree.Box([1, 2, 3])
    box[0]
    box[1:]
    box[0] = 7
    assert 7 in box
    box.call("__add__", [1])


def test_fields(agree):
    """Its fields."""
    agree.Box([1, 2]).fields("items")


def test_printed(agree):
    """What is printed."""
    agree.printing.weigh(function("lambda n: 2 * n"), [1, 2])


def test_generator(agree):
    """A generator is gone through once."""
    agree.weigh(function("lambda n: n"), generator("(n for n in range(4))"))
'''


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    root = tmp_path_factory.mktemp("words") / "course"
    shutil.copytree(TINY, root, ignore=shutil.ignore_patterns("__pycache__", ".autograder"))
    course = load(root)
    week = course.weeks[0]
    course.solution(week).write_text(SOLUTION, encoding="utf-8")
    for folder in ("misconceptions", "alternatives"):
        shutil.rmtree(course.solution_folder(week) / folder)
    (course.graders(week) / "test_weigh.py").write_text(TESTS, encoding="utf-8")
    engine = Engine(course, week, ("cpu",), b"secret", None)
    yield engine
    engine.close()


def verdicts(engine: Engine, source: str) -> dict[str, Verdict]:
    files = {engine.week.module: source.encode()}
    target = engine.target(files)
    try:
        ran = engine.runs.run(target, files, "weigh")
    finally:
        target.close()
    return {r.report.name.split("::")[1].split("[")[0]: r.report.verdict for r in ran}


def test_all_hold_on_the_solution(engine: Engine) -> None:
    assert set(verdicts(engine, SOLUTION).values()) == {Verdict.PASS}


@pytest.mark.parametrize(
    ("old", "new", "fails"),
    [
        ("return len(self.items)", "return len(self.items) + 1", {"test_length", "test_alone"}),
        ("return self.items[place]", "return self.items[0]", {"test_items", "test_alone"}),
        ("return item in self.items", "return False", {"test_items", "test_alone"}),
        ("return self.items + other", "return other", {"test_items"}),
        ('"there are"', '"here are"', {"test_printed"}),
        ('    print("there are", len(items), "items")\n', "", {"test_printed"}),
        ("items = [f(i) for i in items]", "items = list(items)", {"test_printed"}),
        ("items = [f(i) for i in items]", "items = [f(i) for i in list(items) + list(items)]",
         {"test_printed"}),
    ],
)  # fmt: skip
def test_what_is_wrong_fails_its_test_and_no_other(
    engine: Engine, old: str, new: str, fails: set[str]
) -> None:
    found = verdicts(engine, SOLUTION.replace(old, new))
    assert {name for name, verdict in found.items() if verdict is not Verdict.PASS} == fails
    assert {found[name] for name in fails} == {Verdict.WRONG}


@pytest.mark.parametrize(
    "length",
    ["-1", "10**40", "True", "'3'", "None", "2.0", "[0] * 20_000", "print"],
)
def test_a_length_that_is_none_is_the_submissions_mistake(engine: Engine, length: str) -> None:
    found = verdicts(engine, SOLUTION.replace("return len(self.items)", f"return {length}"))
    assert found["test_length"].failed
    assert found["test_alone"].failed


@pytest.mark.parametrize(
    "said",
    [
        "print('x' * 10_000_000)",
        "print('\\ud800')",
        "import sys; sys.stdout = None",
        "import sys; sys.stdout.text = 3",
        "import sys; sys.stdout.text = ['x'] * 10**6",
        "class S(str):\n        def __radd__(self, other): return self\n        "
        "def __getitem__(self, k): return self\n    print(S('x'))",
    ],
)
def test_output_of_any_kind_ends_in_a_verdict(engine: Engine, said: str) -> None:
    old = '    print("there are", len(items), "items")\n'
    found = verdicts(engine, SOLUTION.replace(old, f"    {said}\n"))
    assert found["test_printed"].failed
    assert found["test_length"] is Verdict.PASS
