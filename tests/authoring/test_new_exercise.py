"""Another exercise in a week, of an example or a function: written, and accepted by `verify`."""

from __future__ import annotations

import ast
import io
import shutil
from pathlib import Path

import pytest

from autograder.authoring.lesson.leak_check import check_files, secrets_of
from autograder.authoring.new.course_yaml import with_exercise
from autograder.authoring.new.from_function import Kept, made_of
from autograder.authoring.new.function_source import taken, taken_from, with_function
from autograder.authoring.new.new_exercise import (
    _with_effort,
    add_exercise,
    example,
    in_place_of_the_example,
)
from autograder.authoring.new.new_week import new_course
from autograder.authoring.new.probing import Sample, defined, samples
from autograder.authoring.new.proposals import Proposal, proposals
from autograder.authoring.verify.prover import verify_part
from autograder.authoring.verify.public_side import verify_public
from autograder.cli.author.making import ask_author
from autograder.grading.engine import Engine
from autograder.model.course.bank import Bank
from autograder.model.course.loader import Course, load, parse
from autograder.model.course.stubs import make_stub
from autograder.model.errors import CourseError

MINE = '''\
"""A file of the author's."""
import os
import torch

_EPS = 1e-6


def _rms(x):
    return (x.square().mean(-1, keepdim=True) + _EPS).sqrt()


def rms_norm(x: torch.Tensor) -> torch.Tensor:
    """Each row with a root mean square of 1."""
    return x / _rms(x)


def window_mask(length: int, window: int = 2, causal: bool = True) -> torch.Tensor:
    place = torch.arange(length)
    distance = place[:, None] - place[None, :]
    seen = distance.abs() <= window
    if causal:
        seen = seen & (distance >= 0)
    return seen


def runs(tokens: list[str]) -> list[tuple[str, int]]:
    """How often each token stands in a row."""
    found = []
    for token in tokens:
        if found and found[-1][0] == token:
            found[-1] = (token, found[-1][1] + 1)
        else:
            found.append((token, 1))
    return found


def noisy(x: torch.Tensor) -> torch.Tensor:
    return x + torch.rand(x.shape)


def picky(x: torch.Tensor) -> torch.Tensor:
    raise ValueError("never")


def endless(n: int) -> int:
    while n != 3:
        n = n
    return n


class Thing:
    pass
'''


def kept_all(found: list[Proposal]) -> list[Kept]:
    return [Kept(p) for p in found]


@pytest.fixture(scope="module")
def pristine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("author")
    new_course(root, "A course", "week01_pooling")
    return root


@pytest.fixture
def course(pristine: Path, tmp_path: Path) -> Course:
    return load(Path(shutil.copytree(pristine, tmp_path / "course")), unfinished=True)


def gaps(root: Path, *exercises: str) -> list[str]:
    """What `verify --only` finds missing of these exercises, public side and hidden tests."""
    course = load(root)
    week = course.weeks[-1]
    engine = Engine(course, week, ("cpu", "fake-gpu"), b"secret", None)
    try:
        return [g for e in exercises for g in verify_part(engine, e).gaps]
    finally:
        engine.close()


def test_exercises_made_of_functions_pass_verify(course: Course) -> None:
    for name in ("window_mask", "runs"):
        add_exercise(course, course.weeks[0], made_of(taken(MINE, name, "mine.py"), kept_all))
        course = load(course.root, unfinished=True)
    assert len(Bank(course, course.weeks[0]).misconceptions) >= 20
    assert gaps(course.root, "window_mask", "runs") == []


def test_the_public_check_of_a_new_exercise_holds(course: Course) -> None:
    add_exercise(course, course.weeks[0], made_of(taken(MINE, "rms_norm", "mine.py"), kept_all))
    course = load(course.root)
    assert verify_public(course, course.weeks[0], "rms_norm").gaps == []


def test_the_example_is_added_to_a_week_and_passes_verify(course: Course) -> None:
    add_exercise(course, course.weeks[0], example("rooted"))
    assert gaps(course.root, "rooted") == []


def test_a_new_week_can_be_made_of_a_function(tmp_path: Path) -> None:
    made = made_of(taken(MINE, "rms_norm", "mine.py"), kept_all)
    new_course(tmp_path, "A course", "week01_norms", "rms_norm")
    in_place_of_the_example(load(tmp_path, unfinished=True), "week01_norms", made)
    assert "mean_of_squares" not in (tmp_path / "solutions/week01_norms/norms.py").read_text()
    assert gaps(tmp_path, "rms_norm") == []


def test_nothing_of_the_function_is_in_what_students_get(course: Course) -> None:
    add_exercise(course, course.weeks[0], made_of(taken(MINE, "rms_norm", "mine.py"), kept_all))
    course = load(course.root)
    week = course.weeks[0]
    files = {p.name: p.read_bytes() for p in course.exercise_folder(week).iterdir()}
    check_files(files, secrets_of(course, week), week.name)
    assert b"_rms" not in files["pooling.py"]
    assert b"_EPS" not in files["pooling.py"]


def test_signature_and_docstring_stay_and_the_body_goes() -> None:
    stub = make_stub(taken(MINE, "rms_norm", "mine.py").module, "mine.py")
    assert "def rms_norm(x: torch.Tensor) -> torch.Tensor:" in stub
    assert "root mean square of 1" in stub
    assert stub.rstrip().endswith('raise NotImplementedError("rms_norm")')


def test_only_what_the_function_uses_is_taken() -> None:
    module = taken(MINE, "rms_norm", "mine.py").module
    assert "import os" not in module
    assert "window_mask" not in module


@pytest.mark.parametrize(
    "source",
    [
        "def f(x: int) -> int: return x + 1\n",
        "def f(\n    x: dict[str, int] = {'a': 1},\n) -> int:\n    # why\n    return len(x)\n",
        "import functools\n\n\n@functools.cache\ndef f(x: int) -> int:\n    return x\n",
    ],
)
def test_functions_of_any_layout_are_taken(source: str) -> None:
    stub = make_stub(taken(source, "f", "mine.py").module, "mine.py")
    function = next(n for n in ast.parse(stub).body if isinstance(n, ast.FunctionDef))
    assert "FILL IN" in str(ast.get_docstring(function))


def test_the_author_s_own_line_on_how_to_begin_is_the_stub_s() -> None:
    source = "def f(x: int) -> int:\n    # TODO: count on.\n    return x + 1\n"
    stub = make_stub(taken(source, "f", "mine.py").module, "mine.py")
    assert "    # TODO: count on.\n" in stub
    assert "how to begin" not in stub


def test_a_function_of_nothing_but_words_is_refused() -> None:
    with pytest.raises(CourseError, match="there is nothing for students to write"):
        taken('def f(x: int) -> None:\n    """Nothing."""\n', "f", "mine.py")


def test_a_name_that_the_module_imports_beside_others_is_not_imported_again() -> None:
    source = "from torch import Tensor\n\n\ndef f(x: Tensor) -> Tensor:\n    return x + 1\n"
    module = with_function("from torch import Tensor, nn\n", taken(source, "f", "m.py"), "t.py")
    assert "import Tensor\n" not in module


def test_a_file_of_another_library_is_refused() -> None:
    with pytest.raises(CourseError, match="not there when students' work is graded"):
        taken("import pandas\n\n\ndef f(x):\n    return pandas.cut(x, 3)\n", "f", "mine.py")


@pytest.mark.parametrize(
    ("name", "message"),
    [("nothing", "is not there"), ("Thing", "is no function"), ("_EPS", "is no function")],
)
def test_what_is_no_function_is_refused(name: str, message: str) -> None:
    with pytest.raises(CourseError, match=message):
        taken(MINE, name, "mine.py")


def test_a_place_without_a_function_is_refused() -> None:
    with pytest.raises(CourseError, match=r"write file\.py:function"):
        taken_from("mine.py")


def test_a_function_that_draws_is_refused() -> None:
    with pytest.raises(CourseError, match="another result when it is called again"):
        made_of(taken(MINE, "noisy", "mine.py"), kept_all)


def test_a_function_without_a_call_that_works_is_refused() -> None:
    with pytest.raises(CourseError, match="no call of picky was found"):
        made_of(taken(MINE, "picky", "mine.py"), kept_all)


def test_numbers_of_the_first_calls_differ() -> None:
    text = "def first(n: int, m: int, p: float, q: float) -> float:\n    return n + m + p + q\n"
    (node,) = ast.parse(text).body
    assert isinstance(node, ast.FunctionDef)
    first, *_ = samples(node, defined(text)["first"])
    assert len({*first.positional}) == 4


def test_a_call_that_does_not_end_is_given_up() -> None:
    made = made_of(taken(MINE, "endless", "mine.py"), kept_all)
    assert "agree.endless(3)" in made.grader


def test_proposals_are_told_from_each_other() -> None:
    function = taken(MINE, "runs", "mine.py")
    found = proposals(function.module, "runs", [Sample(('["a", "a", "b"]',))])
    assert len({p.source for p in found}) == len(found) == 10


def test_a_name_that_is_taken_changes_nothing(course: Course) -> None:
    before = {p: p.read_bytes() for p in course.root.rglob("*") if p.is_file()}
    with pytest.raises(CourseError, match="has an exercise pooling already"):
        add_exercise(course, course.weeks[0], example("pooling"))
    assert {p: p.read_bytes() for p in course.root.rglob("*") if p.is_file()} == before


def test_what_fails_half_way_changes_nothing(course: Course) -> None:
    (course.graders(course.weeks[0]) / "test_rooted.py").write_text("mine", encoding="utf-8")
    before = {p: p.read_bytes() for p in course.root.rglob("*") if p.is_file()}
    with pytest.raises(CourseError, match="is there already"):
        add_exercise(course, course.weeks[0], example("rooted"))
    assert {p: p.read_bytes() for p in course.root.rglob("*") if p.is_file()} == before


def test_a_helper_of_the_same_name_is_refused() -> None:
    with pytest.raises(CourseError, match="_EPS already"):
        with_function("_EPS = 2\n", taken(MINE, "rms_norm", "mine.py"), "there.py")


def test_imports_join_the_modules() -> None:
    function = taken(f"from __future__ import annotations\n{MINE[29:]}", "rms_norm", "mine.py")
    joined = with_function('"""Doc."""\n\nimport math\n\nx = math.pi\n', function, "there.py")
    assert joined.split("\n")[:4] == [
        '"""Doc."""',
        "from __future__ import annotations",
        "",
        "import math",
    ]
    ast.parse(joined)


def test_the_registry_keeps_its_layout(course: Course) -> None:
    text = (Path(__file__).resolve().parents[2] / "course.yaml").read_text(encoding="utf-8")
    grown = with_exercise(text, "week02_masking", "{name: window, points: 2}")
    assert [line for line in grown.split("\n") if line not in text.split("\n")] == [
        "      - {name: window, points: 2}"
    ]
    assert parse(grown).weeks[1].exercises[-1].name == "window"


@pytest.mark.parametrize(
    ("answers", "kept"),
    [("y\nn\ny\n", ["a", "c"]), ("n\na\n", ["b", "c"]), ("\nq\n", ["a"])],
)
def test_the_author_keeps_or_throws_away(
    answers: str, kept: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(answers))
    found = [Proposal(name, "x", "y", "def f(): ...", "too long", (0,)) for name in "abc"]
    assert [k.proposal.name for k in ask_author(found)] == kept


def test_what_the_author_writes_is_what_a_student_believes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("the window is open\n"))
    found = ask_author([Proposal("a", "x", "y", "def f(): ...", "too long", (0,))])
    assert found[0].believes == "the window is open"


def test_without_an_answer_nothing_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    with pytest.raises(CourseError, match="--yes keeps all"):
        ask_author([Proposal("a", "x", "y", "def f(): ...", "too long", (0,))])


def test_the_syllabus_gets_a_line_for_it_below_the_others():
    text = "lesson_minutes: 5\nexercises:\n  one: {difficulty: 1}\nquestions:\n  why: {}\n"
    lines = _with_effort(text, "two").split("\n")
    assert lines[3].startswith("  two: {minutes: [10, 20], difficulty: 2, weight: 2}  # FILL IN")
    assert [*lines[:3], *lines[4:]] == text.split("\n")
    assert _with_effort("exercises: {one: {difficulty: 1}}\n", "two") == ""
