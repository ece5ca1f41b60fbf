"""A copy ranks first among sixty independent solutions of the same small exercises."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import msgspec
import pytest

from autograder.classreport.analysis import summarize
from autograder.classreport.page import compare_pairs, week_page
from autograder.model.course import Course, Week, load
from autograder.model.course.stubs import stub_of
from autograder.model.report.schema import Ending, Report, SubmissionReport
from autograder.similarity import Similarity, compare, module_parts
from tests.similarity.classroom import copied, honest, ways

VICTIM, COPIER = "honest07", "copier"


@pytest.fixture(scope="module")
def course(project: Path) -> Course:
    return load(project)


def names_of(week: Week) -> set[str]:
    return {e.name for e in week.exercises}


def with_a_copier(course: Course, week: Week, number: int = 60, seed: int = 1) -> dict[str, str]:
    modules = honest(course, week, number, seed)
    return modules | {COPIER: copied(modules[VICTIM], names_of(week), seed)}


@pytest.fixture(scope="module")
def found(course: Course) -> Similarity:
    week = course.weeks[0]
    return compare(week, stub_of(course, week), with_a_copier(course, week))


@pytest.fixture(scope="module")
def small(course: Course) -> dict[str, str]:
    return with_a_copier(course, course.weeks[0], number=12)


def margin(found: Similarity) -> float:
    """Return the evidence of the copy relative to the best pair of independent solutions."""
    assert {found.pairs[0].first, found.pairs[0].second} == {VICTIM, COPIER}
    best = next(p for p in found.pairs if COPIER not in (p.first, p.second))
    return found.pairs[0].evidence / best.evidence


def test_the_two_who_copied_stand_at_the_top_by_a_margin(found: Similarity) -> None:
    assert margin(found) > 1.3
    assert found.pairs[0].ratio > 4


def test_the_honest_do_not_crowd_the_top(found: Similarity) -> None:
    assert len(found.pairs) == 61 * 60 // 2
    assert len(found.outliers) <= 2


@pytest.mark.parametrize(
    "number", [pytest.param(3, marks=pytest.mark.thorough), 5]
)  # the one with the longest exercises, and the hardest
def test_so_it_is_in_other_weeks(course: Course, number: int) -> None:
    week = course.weeks[number - 1]
    assert margin(compare(week, stub_of(course, week), with_a_copier(course, week))) > 1.05


def test_a_helper_is_one_likeness_with_the_exercise_that_uses_it(course: Course) -> None:
    week = course.weeks[0]
    helper = "def _moved(x, dim):\n    return x - x.max(dim, keepdim=True).values - 0.25 * x\n\n"
    user = (
        "def softmax(x, dim=-1):\n    return _moved(x, dim).exp() / x.sum(dim) * x.abs().mean()\n"
    )
    other = user.replace("def softmax", "def logsumexp").replace(".exp()", ".log()")
    stub, alone, both = stub_of(course, week), helper + user, helper + user + other

    def told(source: str) -> dict[str, float]:
        found = compare(week, stub, {"ada": source, "bob": source, "eve": user})
        pair = next(p for p in found.pairs if {p.first, p.second} == {"ada", "bob"})
        return {a.exercise: a.share for a in pair.exercises}

    assert told(alone) | {"softmax": 1.0, "": 0.0} == told(alone)
    assert told(both)[""] == 1.0  # two exercises use it


def test_names_order_comments_and_layout_change_nothing(found: Similarity) -> None:
    assert found.pairs[0].share == pytest.approx(1, abs=0.02)
    assert found.modules[VICTIM] != found.modules[COPIER]


def test_the_solutions_words_shared_by_all_are_no_evidence(course: Course) -> None:
    week = course.weeks[0]
    source = course.solution(week).read_text(encoding="utf-8")
    found = compare(week, stub_of(course, week), {f"s{n}": source for n in range(9)})
    assert [p.evidence for p in found.pairs] == [0.0] * 36
    assert found.outliers == []


def test_the_stub_is_taken_out(course: Course) -> None:
    week, stub = course.weeks[0], stub_of(course, course.weeks[0])
    found = compare(week, stub, {"ada": stub, "bob": stub, "eve": "x = 1\n"})
    assert found.pairs == []
    assert set(found.left_out) == {"ada", "bob", "eve"}


def test_what_is_no_python_is_compared_all_the_same(course: Course, small: dict[str, str]) -> None:
    week, broken = course.weeks[0], small["honest03"] + "\ndef (:\n"
    found = compare(week, stub_of(course, week), small | {"broken": broken, "again": broken})
    pair = {"broken", "again"}
    assert next(p for p in found.pairs if {p.first, p.second} == pair).share == 1


def test_marked_lines_are_lines_of_what_is_shared(found: Similarity) -> None:
    pair = found.pairs[0]
    for name, marked in zip((pair.first, pair.second), found.shared_lines(pair), strict=True):
        lines = found.modules[name].split("\n")
        assert marked <= set(range(1, len(lines) + 1))
        assert len(marked) > 10
        imports = {n for n, line in enumerate(lines, 1) if line.startswith(("import", "from"))}
        assert not imports & marked


def test_the_parts_remember_their_lines() -> None:
    source = '"""Text."""\nimport os\n\n\ndef f(x: int) -> int:\n    """Text."""\n    # note\n'
    source += "    y = (\n        x + 1  # one\n    )\n    return y\n"
    (part,) = module_parts(source)
    head = "def name ( name : int ) - > int : name = ( name + 1 ) return name"
    assert " ".join(token for token, _ in part.tokens) == head
    assert [line for _, line in part.tokens] == [5] * 11 + [8] * 3 + [9] * 3 + [10] + [11] * 2
    assert part.lines == range(5, 12)


def test_the_page_shows_code_side_by_side_and_names_nobody(
    course: Course, found: Similarity
) -> None:
    week = course.weeks[0]
    graded = tuple(SubmissionReport(n, Ending.GRADED, 1, 13, 0.1) for n in found.modules)
    summary = summarize(week, Report(week.name, ("cpu",), graded))
    page = week_page(course, summary, names=False, similarity=found)
    assert "<mark>" in page
    assert "student 1" in page
    assert VICTIM not in page
    assert VICTIM in week_page(course, summary, names=True, similarity=found)
    (first, *_) = compare_pairs(found, names=False)
    assert len(first.exercises) >= len(week.exercises)
    for similarity, left, right in first.exercises:
        for lines in (left, right):
            text = [line[1] for line in lines if line is not None]
            assert any(similarity.exercise in line for line in text)  # a helper may come before it
    assert any(line is not None and line[2] for line in first.exercises[0][1])


def test_a_students_code_is_no_html(course: Course, small: dict[str, str]) -> None:
    evil = small[VICTIM] + "\n\ndef helper(a, b):\n    return a + '<script>' + b + '<script>' + a\n"
    week = course.weeks[0]
    found = compare(week, stub_of(course, week), small | {VICTIM: evil, COPIER: evil})
    summary = summarize(week, Report(week.name, ("cpu",), ()))
    page = week_page(course, summary, names=True, similarity=found)
    assert "&lt;script&gt;" in page
    assert "<script>" not in page


def test_the_command_shows_the_pair_and_writes_the_page(
    copy: Path, small: dict[str, str], in_process: Callable[..., CompletedProcess[str]]
) -> None:
    course = load(copy)
    week = course.weeks[0]
    recorded = course.state / "recorded" / week.name
    recorded.mkdir(parents=True)
    for name, source in small.items():
        folder = copy / "nbgrader" / "submitted" / name / week.name
        folder.mkdir(parents=True)
        (folder / week.module).write_text(source, encoding="utf-8")
        report = SubmissionReport(name, Ending.GRADED, 1.0, 13.0, 0.1)
        (recorded / f"{name}.json").write_bytes(msgspec.json.encode(report))
    done = in_process("report", "1", "--similarity", "--names", cwd=copy)
    assert done.returncode == 0, done.stderr
    assert "modules compared" in done.stdout
    page = (copy / f"report-{week.name}.html").read_text()
    assert f"<h3><bdi>{COPIER}</bdi> and <bdi>{VICTIM}</bdi></h3>" in page
    done = in_process("report", "--similarity", cwd=copy)
    assert (done.returncode, done.stderr) == (
        2,
        "autograder: --similarity compares the modules of one week: name the week\n",
    )


def test_every_exercise_can_be_written_in_many_ways(course: Course) -> None:
    assert all(len(options) >= 5 for options in ways(course, course.weeks[0]).values())


def test_identical_modules_are_listed_first(course: Course, small: dict[str, str]) -> None:
    week = course.weeks[0]
    first, second, *_ = sorted(small)
    same = {first: small[first], second: small[first], "third": small[first]}
    found = compare(week, stub_of(course, week), small | same)
    assert found.identical == [sorted(same)]
    summary = summarize(week, Report(week.name, (), ()))
    page = week_page(course, summary, names=False, similarity=found)
    assert "<strong>3 modules are identical</strong>, byte for byte.</p>" in page
    assert first in week_page(course, summary, names=True, similarity=found)
