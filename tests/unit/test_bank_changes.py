"""Test that only the affected misconceptions run again after a change of the course."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from autograder.authoring.verify.proofs import ProofJob, close_engine, run_job
from autograder.batch.store import trusted_fingerprint
from autograder.grading.running.test_runner import Runs
from autograder.grading.warmup import warm_engine
from autograder.model.course import load
from autograder.model.course.bank import Misconception

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "course"
EVERY = {"factor_on_the_cpu", "ignores_dim"}


@pytest.fixture
def again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], set[str]]:
    """Return the misconceptions that a new process has to run."""
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
        depends = trusted_fingerprint(course, week, ("cpu",), b"s" * 32)
        engine = warm_engine(course, week, ("cpu",), b"s" * 32, None, depends)
        try:
            for exercise in week.exercises:
                engine.runs.of_misconceptions(exercise.name)
        finally:
            engine.close()
        return set(ran)

    return started


def edit(path: Path) -> None:
    path.write_text(path.read_text("utf-8") + "\n# edited\n", encoding="utf-8")


def test_a_misconception_runs_again_after_a_change_of_its_file_or_tests(
    tmp_path: Path, again: Callable[[], set[str]]
) -> None:
    assert (again(), again()) == (EVERY, set())
    edit(tmp_path / "solutions" / "week01_tiny" / "misconceptions" / "ignores_dim.py")
    assert again() == {"ignores_dim"}
    edit(tmp_path / "autograder" / "graders" / "week01_tiny" / "test_Scale.py")
    assert again() == {"factor_on_the_cpu"}
    registry = (tmp_path / "course.yaml").read_text("utf-8")
    longer = f"{registry}\nsuspects: {{seconds: 7}}\n"
    (tmp_path / "course.yaml").write_text(longer, encoding="utf-8")
    assert again() == set()
    edit(tmp_path / "solutions" / "week01_tiny" / "tiny.py")
    assert again() == EVERY


@pytest.mark.parametrize("keeps", [True, False])
def test_a_job_uses_stored_answers_if_allowed(
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
    part = "week01_tiny", "weigh", ("cpu",), b"s" * 32, ""
    proof = ProofJob(str(tmp_path), *part, "ignores_dim", keeps)
    try:
        assert run_job(proof).gaps == []
    finally:
        close_engine()
    assert asked == ([] if keeps else ["ignores_dim"])
