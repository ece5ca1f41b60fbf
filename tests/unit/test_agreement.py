"""Test the messages of `agree`, pairs, single sides, `refuses` and `count` about wrong work.

One engine in this process, with the tiny course's solution as the reference. A submission is an
edit of the solution, and a hidden test is one line.
"""

# ruff: noqa: E501  # a row is a case: the change, the test, what is said

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from autograder.grading.assertions import value_comparison
from autograder.grading.engine import Engine
from autograder.grading.outcomes import Outcome
from autograder.model.course import load
from autograder.model.report.schema import Ending, Verdict
from autograder.model.report.schema import TestReport as HiddenTest

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "course"
GRADER = '''\
from autograder.authors import expect


def test_values(agree, draw):
    """Values."""
    agree.weigh(draw.normal(3, 5))


def test_gradients(agree, draw):
    """Gradients."""
    agree.gradients.weigh(draw.normal(3, 5))


def test_exactly(agree, draw):
    """To the last bit."""
    agree.exactly.only(lambda w: w.argmax(-1)).weigh(draw.normal(3, 5))


def test_pair(agree, draw):
    """A module."""
    agree.Scale(4)(draw.normal(3, 4))


def test_one_side(submission, draw):
    """One side alone."""
    expect(submission.weigh(draw.normal(2, 3)).shape == (2, 3), "Another shape.")


def test_refusal(refuses):
    """A refusal."""
    refuses(ValueError, mentions=-2).Scale(-2)


def test_work(count, draw):
    """Work."""
    expect(count.weigh(draw.normal(8, 8)).largest <= 64, "A tensor larger than the input.")
'''
WEIGH = "right = weigh\n\n\ndef weigh(x, dim=-1):\n    "
SCALE = "class Scale(nn.Module):\n    def __init__(self, size):\n        super().__init__()\n"


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    root = tmp_path_factory.mktemp("agreement") / "course"
    shutil.copytree(GOLDEN, root, ignore=shutil.ignore_patterns("__pycache__", ".autograder"))
    course = load(root)
    (course.graders(course.weeks[0]) / "test_weigh.py").write_text(GRADER, encoding="utf-8")
    engine = Engine(course, course.weeks[0], ("cpu",), b"secret", None)
    yield engine
    engine.close()


@pytest.fixture
def of(engine: Engine) -> Callable[[str, str], HiddenTest]:
    """Run one hidden test on the solution with an edit and return its outcome."""
    solution = engine.course.solution(engine.week).read_text("utf-8")

    def grade(change: str, test: str) -> HiddenTest:
        files = {engine.week.module: f"{solution}\n\n{change}".encode()}
        (exercise,) = engine.grade("ada", files, exercise="weigh").exercises
        return next(t for t in exercise.tests if t.base.endswith(f"::test_{test}"))

    return grade


def test_the_solution_agrees_with_itself(engine: Engine) -> None:
    files = {engine.week.module: engine.course.solution(engine.week).read_bytes()}
    (exercise,) = engine.grade("ada", files, exercise="weigh").exercises
    assert {t.verdict for t in exercise.tests} == {Verdict.PASS}


@pytest.mark.parametrize(
    ("change", "test", "said"),
    [
        (f"{WEIGH}return right(x, dim)[..., :-1]", "values", "shape"),
        (f"{WEIGH}return right(x, dim).double()", "values", "dtype"),
        (f"{WEIGH}return right(x, dim).tolist()", "values", "list"),
        (f"{WEIGH}return None", "values", "None"),
        (f"{WEIGH}x -= 1; return right(x, dim)", "values", "in place"),
        (f"{WEIGH}torch.rand(1); return right(x, dim)", "values", "random state"),
        (f"{WEIGH}return x.detach().exp() / x.detach().exp().sum(dim, keepdim=True)", "gradients", "no gradient"),
        (f"{WEIGH}return right(-x, dim)", "exactly", "differs"),
        (f"{SCALE}        self.wrong = nn.Parameter(torch.ones(size))", "pair", "lacks `factor`"),
        (f"{SCALE}        self.factor = nn.Parameter(torch.ones(size))\n    def forward(self, x):\n        return x", "pair", "differs"),
        (f"{WEIGH}return x.T", "one_side", "Another shape."),
        (f"{SCALE}        self.factor = nn.Parameter(torch.ones(2))", "refusal", "but accepts them"),
        (f"{SCALE}        raise ValueError('no')", "refusal", "does not name the wrong value"),
        (f"{SCALE}        raise KeyError(size)", "refusal", "should raise ValueError here, but raises KeyError"),
        (f"{WEIGH}big = torch.zeros(99, 99); return right(x, dim)", "work", "larger than the input"),
        (f"{WEIGH}return (x - x).exp() if len(x) == 8 else right(x, dim)", "work", "differs"),
    ],
)  # fmt: skip
def test_wrong_work_is_wrong_and_told_why(of, change: str, test: str, said: str) -> None:
    found = of(change, test)
    assert (found.verdict, said in found.message) == (Verdict.WRONG, True), found


def test_an_unwritten_function_is_reported_the_same_way_if_it_should_raise(of) -> None:
    change = f"{SCALE}        raise NotImplementedError('Scale')"
    refusal, pair = of(change, "refusal"), of(change, "pair")
    assert refusal.verdict is Verdict.UNWRITTEN
    assert refusal.message == pair.message


@pytest.mark.parametrize(
    ("change", "verdict"),
    [
        (f"{WEIGH}raise RuntimeError('mine')", Verdict.CRASHED),
        (f"{WEIGH}raise NotImplementedError('weigh')", Verdict.UNWRITTEN),
        ("del weigh", Verdict.CRASHED),
    ],
)
def test_a_call_that_ends_badly_has_its_own_verdict(of, change: str, verdict: Verdict) -> None:
    assert of(change, "values").verdict is verdict


@pytest.mark.parametrize(("number", "kind"), list(enumerate(Outcome.__subclasses__(), 1)))
def test_equal_answers_end_in_the_same_verdict(of, monkeypatch, number: int, kind) -> None:
    monkeypatch.setattr(value_comparison, "Wrong", kind)
    results = [of(f"{WEIGH}return right(x, dim) + {number}", "values") for _ in "12"]
    assert [result.verdict for result in results] == [kind.verdict, kind.verdict]


def test_where_it_stopped_stands_in_the_report(of, engine: Engine) -> None:
    lines = engine.course.solution(engine.week).read_text("utf-8").count("\n")
    assert of(f"{WEIGH}raise RuntimeError('mine')", "values").line == lines + 7


def test_a_fault_of_a_hidden_test_is_nobodys_zero(tmp_path: Path) -> None:
    root = tmp_path / "course"
    shutil.copytree(GOLDEN, root, ignore=shutil.ignore_patterns("__pycache__", ".autograder"))
    course = load(root)
    grader = course.graders(course.weeks[0]) / "test_weigh.py"
    grader.write_text("def test_x(agree):\n    raise KeyError('ours')\n", encoding="utf-8")
    engine = Engine(course, course.weeks[0], ("cpu",), b"secret", None)
    files = {engine.week.module: course.solution(course.weeks[0]).read_bytes()}
    assert engine.grade("ada", files).verdict is Ending.GRADER_FAULT
    engine.close()
