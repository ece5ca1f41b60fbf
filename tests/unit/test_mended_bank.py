"""After a change of the course what is run again is what it concerns, and nothing else."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from autograder.authoring.verify.proof_job import Proof, end_engine, prove
from autograder.authoring.verify.selection import Aim
from autograder.batch.fingerprint import trusted_fingerprints
from autograder.grading.running.test_runner import Runs
from autograder.grading.warmup import warm_engine
from autograder.model.course.bank import Misconception
from autograder.model.course.loader import load

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "course"
EVERY = {"factor_on_the_cpu", "ignores_dim"}


@pytest.fixture
def again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], set[str]]:
    """The misconceptions that a process has to run that starts now."""
    ignored = shutil.ignore_patterns("__pycache__", ".autograder")
    shutil.copytree(GOLDEN, tmp_path, ignore=ignored, dirs_exist_ok=True)
    ran = set[str]()
    run = Runs.run_misconception

    def counted(self: Runs, misconception: Misconception) -> object:
        ran.add(misconception.name)
        return run(self, misconception)

    monkeypatch.setattr(Runs, "run_misconception", counted)

    def started() -> set[str]:
        ran.clear()
        course = load(tmp_path)
        week = course.weeks[0]
        depends = trusted_fingerprints(course, week, ("cpu",), b"s" * 32, "none")
        engine = warm_engine(course, week, ("cpu",), b"s" * 32, None, depends)
        try:
            for exercise in week.exercises:
                engine.runs.of_misconceptions(exercise.name)
        finally:
            engine.close()
        return set(ran)

    return started


def mend(path: Path) -> None:
    path.write_text(path.read_text("utf-8") + "\n# mended\n", encoding="utf-8")


def test_each_runs_again_only_where_it_or_its_tests_were_mended(
    tmp_path: Path, again: Callable[[], set[str]]
) -> None:
    assert (again(), again()) == (EVERY, set())
    mend(tmp_path / "solutions" / "week01_tiny" / "misconceptions" / "ignores_dim.py")
    assert again() == {"ignores_dim"}
    mend(tmp_path / "autograder" / "graders" / "week01_tiny" / "test_Scale.py")
    assert again() == {"factor_on_the_cpu"}
    registry = (tmp_path / "course.yaml").read_text("utf-8")
    longer = f"{registry}\nsuspects: {{seconds: 7}}\n"
    (tmp_path / "course.yaml").write_text(longer, encoding="utf-8")
    assert again() == set()
    mend(tmp_path / "solutions" / "week01_tiny" / "tiny.py")
    assert again() == EVERY


@pytest.mark.parametrize("keeps", [True, False])
def test_a_proof_takes_what_the_bank_answered_before_if_it_may(
    tmp_path: Path,
    again: Callable[[], set[str]],
    monkeypatch: pytest.MonkeyPatch,
    keeps: bool,
) -> None:
    again()
    asked = []
    run = Runs.run_misconception
    monkeypatch.setattr(
        Runs, "run_misconception", lambda self, m: asked.append(m.name) or run(self, m)
    )
    aim = Aim("week01_tiny", "weigh", "ignores_dim")
    proof = Proof(str(tmp_path), aim.week, aim.exercise, ("cpu",), b"s" * 32, "", aim, keeps)
    try:
        assert prove(proof).gaps == []
    finally:
        end_engine()
    assert asked == ([] if keeps else ["ignores_dim"])
