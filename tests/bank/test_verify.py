"""Test that `verify` finds no gap in the course's banks and reports the gaps of changed ones."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from autograder.authoring.verify.hidden_tests import WHOLE, verify_part
from autograder.grading.triviality.trivial_programs import trivial_programs
from autograder.grading.warmup import warm_engine
from autograder.model.course import Course, load
from autograder.model.course.bank import Bank
from autograder.model.errors import CourseError, EngineError
from tests.weeks import each_week, thorough_after

PROJECT = Path(__file__).resolve().parents[2]
COURSE = load(PROJECT)


def all_gaps(course: Course, name: str) -> list[str]:
    week = course.week(name)
    engine = warm_engine(course, week, ("cpu", "fake-gpu"), b"of one draw", None)
    try:
        parts = (WHOLE, *(e.name for e in week.exercises))
        return [gap for part in parts for gap in verify_part(engine, part).gaps]
    finally:
        engine.close()


@each_week(COURSE.weeks, thorough=[week.name for week in COURSE.weeks])
def test_stub_solution_alternatives_and_misconceptions_of(week, autograder):
    # one draw of the hidden inputs, the same in every clone
    done = autograder("verify", week.name, "--quick", "--draws", "1", timeout=900)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-2000:]
    assert " 0 gaps" in done.stdout


@pytest.mark.parametrize("name", thorough_after(2, [week.name for week in COURSE.weeks]))
def test_correct_programs_get_full_points_of(name):
    """Check the solution and the first alternative, because a complete proof takes too long."""
    week = COURSE.week(name)
    engine = warm_engine(COURSE, week, ("cpu", "fake-gpu"), b"of one draw", None)
    try:
        for source in (engine.bank.solution, *[*engine.bank.alternatives.values()][:1]):
            report = engine.grade("right", {week.module: source.encode()})
            assert [e.name for e in report.exercises if e.score < e.max_score] == []
    finally:
        engine.close()


@pytest.mark.thorough
def test_week_1_has_no_gap_in_the_sandbox(autograder):
    # one draw, the same in every clone
    done = autograder("verify", "week01_softmax", "--draws", "1", timeout=900)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-2000:]


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    source = PROJECT / "tests" / "golden" / "course"
    return Path(shutil.copytree(source, tmp_path / "tiny", ignore=shutil.ignore_patterns("__pyc*")))


def gaps_of(tiny: Path) -> str:
    return "\n".join(all_gaps(load(tiny), "1"))


def test_a_misconception_that_survives_is_a_gap(tiny):
    harmless = (tiny / "solutions/week01_tiny/misconceptions/ignores_dim.py").read_text()
    harmless = harmless.replace("amax(-1,", "amax(dim,").replace("sum(-1,", "sum(dim,")
    (tiny / "solutions/week01_tiny/misconceptions/harmless.py").write_text(harmless)
    assert "misconception harmless survives" in gaps_of(tiny)


@pytest.mark.parametrize(
    ("other", "gap"),
    [
        ("test_values", "not rejected by test_values, but by test_any_axis"),
        ("test_typo", "not rejected by test_typo, which does not exist, but by test_any_axis"),
    ],
)
def test_a_misconception_rejected_by_the_wrong_test_is_a_gap(tiny, other, gap):
    path = tiny / "solutions/week01_tiny/misconceptions/ignores_dim.py"
    path.write_text(path.read_text().replace("Rejected by: test_any_axis", f"Rejected by: {other}"))
    assert f"ignores_dim is {gap}" in gaps_of(tiny)


def test_a_trivial_program_that_earns_more_than_a_tenth_is_a_gap(tiny):
    (tiny / "solutions/week01_tiny/trivial.py").write_text(
        "def weigh__of_the_last_axis(x, dim=-1):\n"
        "    e = torch.exp(x - x.amax(-1, keepdim=True))\n"
        "    return e / e.sum(-1, keepdim=True)\n"
    )
    earns = "the trivial program `of_the_last_axis` earns 2.1 of 3 points for weigh"
    assert f"{earns} because of ignores_dim" in gaps_of(tiny)


def test_the_generated_trivial_programs_are_graded_like_submissions():
    week = COURSE.week("week02_masking")
    engine = warm_engine(COURSE, week, ("cpu",), b"of one draw", None)
    try:
        for kind, source in trivial_programs(engine.bank, "combine_masks"):
            report = engine.grade(kind, {week.module: source.encode()}, "combine_masks")
            verdicts = {t.verdict for t in report.exercises[0].tests}
            assert verdicts <= ({"crashed"} if kind == "raises" else {"wrong", "pass"}), kind
    finally:
        engine.close()


def test_an_alternative_that_a_test_rejects_is_a_gap(tiny):
    path = tiny / "autograder/graders/week01_tiny/test_weigh.py"
    path.write_text(
        path.read_text()
        + '\n\ndef test_too_strict(submission, draw):\n    """Correct styles differ here."""\n'
        + "    x = draw.normal(3, 4, 7)\n"
        + "    assert submission.weigh(x, dim=1).is_contiguous(), 'never'\n"
        + "    assert False, 'rejects everything'\n"
    )
    assert "alternative loops fails test_weigh.py::test_too_strict" in gaps_of(tiny)


@pytest.mark.thorough
def test_correct_code_that_looks_like_evasion_is_a_gap(tiny, autograder):
    week = tiny / "solutions" / "week01_tiny"
    (alternative,) = (week / "alternatives").glob("*.py")
    alternative.write_text(
        alternative.read_text()
        + "\n\ntry:\n    open('/proc/1/maps').close()\nexcept OSError:\n    pass\n"
    )
    done = autograder("verify", "1", cwd=tiny)
    said = " ".join(done.stdout.split())
    looks = "looks like an attempt to evade grading: /proc"
    assert f"alternative {alternative.stem} {looks}" in said
    assert said.count(looks) == 1


def test_a_test_that_no_misconception_fails_is_a_gap(tiny):
    (tiny / "solutions/week01_tiny/misconceptions/factor_on_the_cpu.py").unlink()
    found = gaps_of(tiny)
    assert "Scale has no misconception" in found
    assert "no misconception fails `test_Scale.py::test_device`" in found


@pytest.mark.thorough
def test_a_test_that_passes_by_chance_is_a_gap_of_some_draws(tiny, autograder):
    path = tiny / "autograder/graders/week01_tiny/test_weigh.py"
    path.write_text(
        path.read_text()
        + '\n\ndef test_luck(agree, draw):\n    """Fails with every other draw of its inputs."""\n'
        + "    x = draw.normal(2)\n    agree.weigh(x)\n    assert x[0] > 0, 'bad luck'\n"
    )
    done = autograder("verify", "1", "--quick", "--draws", "8", cwd=tiny)
    assert done.returncode == 1, done.stdout
    said = " ".join(done.stdout.split())
    unlucky = re.findall(
        r"the solution fails test_weigh.py::test_luck\S*: \S+: .*? \(in (\d) of 8 ", said
    )
    assert unlucky
    assert all(0 < int(times) < 8 for times in unlucky)
    assert "8 draws" in said


@pytest.mark.thorough
def test_parallel_jobs_give_the_same_result(tiny, autograder):
    shown = [
        autograder("verify", "1", "--quick", "--draws", "2", "--jobs", jobs, cwd=tiny).stdout
        for jobs in ("1", "2")
    ]
    assert shown[0] == shown[1]
    assert "2 misconceptions, 2 draws: " in shown[0]


def test_a_stub_that_earns_points_is_a_gap(tiny):
    path = tiny / "solutions/week01_tiny/tiny.py"
    path.write_text(
        path.read_text()
        .replace("    # BEGIN SOLUTION\n    e =", "    e =", 1)
        .replace("keepdim=True)\n    # END SOLUTION", "keepdim=True)", 1)
    )
    assert "the stub earns points for weigh" in gaps_of(tiny)


def test_mutants_of_the_solution_are_run(tiny, in_process):
    done = in_process("verify", "1", "--mutants", cwd=tiny)
    assert "week01_tiny: " in done.stdout
    assert " others caught" in done.stdout


def test_a_stale_stub_is_a_gap(tiny):
    stub = tiny / "exercises/week01_tiny/tiny.py"
    stub.parent.mkdir(parents=True, exist_ok=True)
    stub.write_text("def weigh(): ...\n")
    gaps = gaps_of(tiny)
    assert "tiny.py differs from the stub that the solution gives: run `autograder build`" in gaps


def test_an_undefined_name_in_a_misconception_is_reported(tiny):
    path = tiny / "solutions/week01_tiny/misconceptions/ignores_dim.py"
    path.write_text(path.read_text().replace("torch.", "torhc.", 1))
    gaps = gaps_of(tiny)
    assert "misconception ignores_dim fails because a name in it is not defined: " in gaps
    assert "torhc" in gaps


@pytest.mark.parametrize("place", ["tiny.py", "alternatives/loops.py"])
def test_a_syntax_error_in_the_bank_is_reported_with_its_line(tiny, place):
    path = tiny / "solutions/week01_tiny" / place
    path.write_text(path.read_text() + "\n\nx = (1\n")
    course = load(tiny)
    bank = Bank(course, course.weeks[0])
    with pytest.raises(CourseError, match=rf"{place}:\d+: '\(' was never closed"):
        assert bank.alternatives


def test_a_syntax_error_in_a_grader_is_one_line(tiny):
    path = tiny / "autograder/graders/week01_tiny/test_weigh.py"
    path.write_text(path.read_text() + "\n\nx = (1\n")
    with pytest.raises(EngineError, match=r"test_weigh.py:\d+: '\(' was never closed$"):
        gaps_of(tiny)


def test_a_misspelt_word_in_a_test_is_reported(tiny):
    path = tiny / "autograder/graders/week01_tiny/test_weigh.py"
    slips = "\n\ndef test_a(agree):\n    agree.gradientss.weigh(2)\n"
    slips += "\n\ndef test_b(agree):\n    agree.withn(1, 1).weigh(2)\n"
    path.write_text(path.read_text() + slips)
    gaps = gaps_of(tiny)
    assert "fixtures have no 'gradientss'; did you mean 'gradients'?" in gaps
    assert "the solution has no `withn`; did you mean 'within'?" in gaps
