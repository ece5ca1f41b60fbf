"""Test the author's package and its page: each name is documented, and each example runs."""

from __future__ import annotations

import inspect
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from autograder import authors
from autograder.authors import Agree, Count, Draw, Pair
from autograder.grading.assertions.call_comparison import Comparison
from autograder.grading.engine import Engine
from autograder.grading.running import fixtures
from autograder.model.course import load
from autograder.model.course.stubs import stub_of
from autograder.model.report.schema import ExerciseReport, Verdict

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "vocabulary.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)
EXAMPLES = [name for block in BLOCKS for name in re.findall(r"def (test_\w+)", block)]
FIXTURES = ("submission", "reference", "agree", "refuses", "count", "draw", "dtype", "device")


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """Return the tiny course with the page's examples as hidden tests of `weigh`."""
    root = tmp_path_factory.mktemp("vocabulary") / "course"
    ignored = shutil.ignore_patterns("__pycache__", ".autograder")
    shutil.copytree(ROOT / "tests" / "golden" / "course", root, ignore=ignored)
    course = load(root)
    graders = course.graders(course.weeks[0])
    (graders / "test_weigh.py").write_text("\n\n".join(BLOCKS), encoding="utf-8")
    engine = Engine(course, course.weeks[0], ("cpu", "fake-gpu"), b"secret", None)
    yield engine
    engine.close()


def graded(engine: Engine, source: str) -> ExerciseReport:
    files = {engine.week.module: source.encode()}
    return engine.grade("example", files, exercise="weigh").exercises[0]


@pytest.fixture(scope="module")
def of_solution(engine: Engine) -> ExerciseReport:
    return graded(engine, engine.course.solution(engine.week).read_text("utf-8"))


@pytest.fixture(scope="module")
def of_stub(engine: Engine) -> ExerciseReport:
    return graded(engine, stub_of(engine.course, engine.week))


@pytest.mark.parametrize("example", EXAMPLES)
def test_an_example_passes_on_the_solution(of_solution: ExerciseReport, example: str) -> None:
    ends = {t.verdict for t in of_solution.tests if t.base.endswith(f"::{example}")}
    assert ends == {Verdict.PASS}


@pytest.mark.parametrize("example", EXAMPLES)
def test_an_example_fails_on_the_stub(of_stub: ExerciseReport, example: str) -> None:
    ends = {t.verdict for t in of_stub.tests if t.base.endswith(f"::{example}")}
    assert ends == {Verdict.UNWRITTEN}


@pytest.mark.parametrize("name", authors.__all__)
def test_every_public_name_is_on_the_page(name: str) -> None:
    assert f"`{name}" in PAGE


@pytest.mark.parametrize("name", FIXTURES)
def test_every_fixture_is_on_the_page(name: str) -> None:
    assert f"`{name}`" in PAGE


def test_no_fixture_is_missing_in_the_list() -> None:
    given = {n for n, f in vars(fixtures).items() if "pytest_fixture" in repr(f)}
    assert given
    assert given <= set(FIXTURES)


@pytest.mark.parametrize(
    ("kind", "word"),
    [(Agree, "agree."), (Comparison, "agree."), (Count, "count."), (Draw, "draw."), (Pair, ".")],
)
def test_every_public_member_is_on_the_page(kind: type, word: str) -> None:
    own = {n for n, _ in inspect.getmembers(kind) if n in vars(kind) and not n.startswith("_")}
    internal = {"object_on", "case", "tolerance", "with_gradients", "pure", "view"}
    internal |= {"state_std", "brought", "order", "kernels_only", "attribute", "prints"}
    internal |= {"made_by", "parameters", "on_student", "on_reference", "on_precise"}
    assert {n for n in own - internal if f"{word}{n}" not in PAGE} == set()


def test_hidden_tests_import_nothing_else_of_the_kit() -> None:
    pattern = re.compile(r"^\s*(?:from|import) (autograder[\w.]*)", flags=re.MULTILINE)
    for path in (ROOT / "autograder" / "graders").glob("*/**/*.py"):
        found = set(pattern.findall(path.read_text(encoding="utf-8")))
        assert found <= {"autograder.authors"}, path.name
