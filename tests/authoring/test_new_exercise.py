"""Test adding an exercise to a week, from the example or from a function."""

from __future__ import annotations

import ast
import io
import shutil
from pathlib import Path

import pytest

from autograder.authoring.lesson.leak_check import check_files, secrets_of
from autograder.authoring.new.course_yaml import with_exercise
from autograder.authoring.new.from_function import AcceptedProposal, draft_exercise
from autograder.authoring.new.function_source import (
    extract_function,
    insert_function,
    read_function,
)
from autograder.authoring.new.new_exercise import (
    add_exercise,
    example_draft,
    replace_example,
    with_effort,
)
from autograder.authoring.new.new_week import new_course
from autograder.authoring.new.probing import SampleCall, define, guess_calls
from autograder.authoring.new.proposals import Proposal, propose
from autograder.authoring.verify.hidden_tests import verify_part
from autograder.authoring.verify.public_checks import verify_public
from autograder.cli.author.making import ask_author
from autograder.grading.engine import Engine
from autograder.model.course import Course, load, parse
from autograder.model.course.bank import Bank
from autograder.model.course.stubs import make_stub
from autograder.model.errors import CourseError

MINE = '''\
"""The author's file."""
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
    """Count equal tokens in a row."""
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


def keep_all(found: list[Proposal]) -> list[AcceptedProposal]:
    return [AcceptedProposal(p) for p in found]


@pytest.fixture(scope="module")
def pristine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("author")
    new_course(root, "A course", "week01_pooling")
    return root


@pytest.fixture
def course(pristine: Path, tmp_path: Path) -> Course:
    return load(Path(shutil.copytree(pristine, tmp_path / "course")), unfinished=True)


def gaps(root: Path, *exercises: str) -> list[str]:
    """Return the gaps that `verify` finds in the hidden tests of these exercises."""
    course = load(root)
    week = course.weeks[-1]
    engine = Engine(course, week, ("cpu", "fake-gpu"), b"secret", None)
    try:
        return [g for e in exercises for g in verify_part(engine, e).gaps]
    finally:
        engine.close()


def test_exercises_drafted_from_functions_pass_verify(course: Course) -> None:
    for name in ("window_mask", "runs"):
        add_exercise(
            course,
            course.weeks[0],
            draft_exercise(extract_function(MINE, name, "mine.py"), keep_all),
        )
        course = load(course.root, unfinished=True)
    assert len(Bank(course, course.weeks[0]).misconceptions) >= 12
    assert gaps(course.root, "window_mask", "runs") == []


def test_the_solution_passes_the_public_check_of_a_new_exercise(course: Course) -> None:
    add_exercise(
        course,
        course.weeks[0],
        draft_exercise(extract_function(MINE, "rms_norm", "mine.py"), keep_all),
    )
    course = load(course.root)
    assert verify_public(course, course.weeks[0], "rms_norm").gaps == []


def test_the_example_is_added_to_a_week_and_passes_verify(course: Course) -> None:
    add_exercise(course, course.weeks[0], example_draft("rooted"))
    assert gaps(course.root, "rooted") == []


def test_a_new_week_can_start_from_a_function(tmp_path: Path) -> None:
    made = draft_exercise(extract_function(MINE, "rms_norm", "mine.py"), keep_all)
    new_course(tmp_path, "A course", "week01_norms", "rms_norm")
    replace_example(load(tmp_path, unfinished=True), "week01_norms", made)
    assert "mean_of_squares" not in (tmp_path / "solutions/week01_norms/norms.py").read_text()
    assert gaps(tmp_path, "rms_norm") == []


def test_the_public_files_contain_no_secret_line_of_the_function(course: Course) -> None:
    add_exercise(
        course,
        course.weeks[0],
        draft_exercise(extract_function(MINE, "rms_norm", "mine.py"), keep_all),
    )
    course = load(course.root)
    week = course.weeks[0]
    files = {p.name: p.read_bytes() for p in course.exercise_folder(week).iterdir()}
    check_files(files, secrets_of(course, week), week.name)
    assert b"_rms" not in files["pooling.py"]
    assert b"_EPS" not in files["pooling.py"]


def test_the_stub_keeps_signature_and_docstring() -> None:
    stub = make_stub(extract_function(MINE, "rms_norm", "mine.py").module, "mine.py")
    assert "def rms_norm(x: torch.Tensor) -> torch.Tensor:" in stub
    assert "root mean square of 1" in stub
    assert stub.rstrip().endswith('raise NotImplementedError("rms_norm")')


def test_unused_definitions_and_imports_are_left_out() -> None:
    module = extract_function(MINE, "rms_norm", "mine.py").module
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
def test_functions_of_any_layout_are_extracted(source: str) -> None:
    stub = make_stub(extract_function(source, "f", "mine.py").module, "mine.py")
    function = next(n for n in ast.parse(stub).body if isinstance(n, ast.FunctionDef))
    assert "FILL IN" in str(ast.get_docstring(function))


def test_the_stub_keeps_the_authors_todo_comment() -> None:
    source = "def f(x: int) -> int:\n    # TODO: count on.\n    return x + 1\n"
    stub = make_stub(extract_function(source, "f", "mine.py").module, "mine.py")
    assert "    # TODO: count on.\n" in stub
    assert "how to begin" not in stub


def test_a_function_without_code_is_refused() -> None:
    with pytest.raises(CourseError, match="students would have no code to write"):
        extract_function('def f(x: int) -> None:\n    """Empty."""\n', "f", "mine.py")


def test_an_existing_import_is_not_repeated() -> None:
    source = "from torch import Tensor\n\n\ndef f(x: Tensor) -> Tensor:\n    return x + 1\n"
    module = insert_function(
        "from torch import Tensor, nn\n", extract_function(source, "f", "m.py"), "t.py"
    )
    assert "import Tensor\n" not in module


def test_an_import_that_grading_does_not_have_is_refused() -> None:
    with pytest.raises(CourseError, match="not available during grading"):
        extract_function(
            "import pandas\n\n\ndef f(x):\n    return pandas.cut(x, 3)\n", "f", "mine.py"
        )


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nothing", "is not defined at the top level"),
        ("Thing", "is not a function"),
        ("_EPS", "is not a function"),
    ],
)
def test_other_definitions_are_refused(name: str, message: str) -> None:
    with pytest.raises(CourseError, match=message):
        extract_function(MINE, name, "mine.py")


def test_a_file_without_a_function_name_is_refused() -> None:
    with pytest.raises(CourseError, match=r"write file\.py:function"):
        read_function("mine.py")


def test_a_function_with_random_results_is_refused() -> None:
    with pytest.raises(CourseError, match="different results for equal inputs"):
        draft_exercise(extract_function(MINE, "noisy", "mine.py"), keep_all)


def test_a_function_without_a_successful_call_is_refused() -> None:
    with pytest.raises(CourseError, match="no call of picky succeeded"):
        draft_exercise(extract_function(MINE, "picky", "mine.py"), keep_all)


def test_guessed_scalars_differ_from_each_other() -> None:
    text = "def first(n: int, m: int, p: float, q: float) -> float:\n    return n + m + p + q\n"
    first, *_ = guess_calls(define(text)["first"])
    assert len({*first.positional}) == 4


def test_an_endless_call_is_abandoned() -> None:
    draft = draft_exercise(extract_function(MINE, "endless", "mine.py"), keep_all)
    assert "agree.endless(3)" in draft.grader


def test_proposals_differ_from_each_other() -> None:
    function = extract_function(MINE, "runs", "mine.py")
    found = propose(function.module, "runs", [SampleCall(('["a", "a", "b"]',))])
    assert len({p.source for p in found}) == len(found) >= 6


def test_a_duplicate_name_changes_nothing(course: Course) -> None:
    before = {p: p.read_bytes() for p in course.root.rglob("*") if p.is_file()}
    with pytest.raises(CourseError, match="already has an exercise pooling"):
        add_exercise(course, course.weeks[0], example_draft("pooling"))
    assert {p: p.read_bytes() for p in course.root.rglob("*") if p.is_file()} == before


def test_a_failure_changes_nothing(course: Course) -> None:
    (course.graders(course.weeks[0]) / "test_rooted.py").write_text("mine", encoding="utf-8")
    before = {p: p.read_bytes() for p in course.root.rglob("*") if p.is_file()}
    with pytest.raises(CourseError, match="already exists"):
        add_exercise(course, course.weeks[0], example_draft("rooted"))
    assert {p: p.read_bytes() for p in course.root.rglob("*") if p.is_file()} == before


def test_a_duplicate_helper_is_refused() -> None:
    with pytest.raises(CourseError, match="already defines _EPS"):
        insert_function("_EPS = 2\n", extract_function(MINE, "rms_norm", "mine.py"), "there.py")


def test_imports_are_merged_into_the_module() -> None:
    function = extract_function(
        f"from __future__ import annotations\n{MINE[25:]}", "rms_norm", "mine.py"
    )
    joined = insert_function('"""Doc."""\n\nimport math\n\nx = math.pi\n', function, "there.py")
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
def test_the_author_keeps_or_discards_each_proposal(
    answers: str, kept: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(answers))
    found = [Proposal("x", name, "def f(): ...", (0,)) for name in "abc"]
    assert [k.proposal.after for k in ask_author(found)] == kept


def test_other_answers_become_the_belief(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("the window is open\n"))
    found = ask_author([Proposal("x", "y", "def f(): ...", (0,))])
    assert found[0].believes == "the window is open"


def test_end_of_input_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    with pytest.raises(CourseError, match="--yes keeps all"):
        ask_author([Proposal("x", "y", "def f(): ...", (0,))])


def test_the_syllabus_gets_a_line_for_the_exercise():
    text = "lesson_minutes: 5\nexercises:\n  one: {difficulty: 1}\nquestions:\n  why: {}\n"
    lines = with_effort(text, "two").split("\n")
    assert lines[3].startswith("  two: {minutes: [10, 20], difficulty: 2, weight: 2}  # FILL IN")
    assert [*lines[:3], *lines[4:]] == text.split("\n")
    assert with_effort("exercises: {one: {difficulty: 1}}\n", "two") == ""
