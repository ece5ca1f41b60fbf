"""Test running the bank's programs in a separate process, as on a real GPU."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from autograder.grading.diagnosis.equivalence import same_answers
from autograder.grading.engine import Engine
from autograder.grading.localization.candidate_runner import Probe
from autograder.grading.localization.traces import informative_probes
from autograder.grading.warmup import warm_engine
from autograder.model.course import load
from autograder.model.report.schema import Verdict
from autograder.sandbox import SandboxMissing, choose
from autograder.worker.protocol import frames

COURSE = Path(__file__).resolve().parents[1] / "golden" / "course"


@pytest.fixture(scope="module")
def engines() -> Iterator[tuple[Engine, Engine]]:
    """Create an engine that runs the bank in this process, and one with a separate process."""
    try:
        sandbox = choose()
    except SandboxMissing as error:
        pytest.skip(str(error))
    course = load(COURSE)
    about = course, course.weeks[0], ("cpu", "fake-gpu"), b"s" * 32, sandbox
    here, apart = warm_engine(*about), warm_engine(*about)
    apart.runs.apart = apart.target
    yield here, apart
    here.close()
    apart.close()


def test_what_it_answers_is_the_same(engines: tuple[Engine, Engine]) -> None:
    here, apart = (e.runs for e in engines)
    for exercise in here.week.exercises:
        wrong, same = (r.of_misconceptions(exercise.name) for r in (here, apart))
        assert wrong
        assert wrong.keys() == same.keys()
        for name, ran in wrong.items():
            assert [r.report for r in same[name]] == [r.report for r in ran]
            assert all(
                same_answers(a.answers, b.answers) for a, b in zip(ran, same[name], strict=True)
            )
        assert here.right_answers(exercise.name).keys() == apart.right_answers(exercise.name).keys()
        assert here.recorded(exercise.name).keys() == apart.recorded(exercise.name).keys()


def test_who_ends_its_process_ends_nobody_elses(engines: tuple[Engine, Engine]) -> None:
    _, apart = engines
    one = apart.bank.misconceptions[0]
    deadly = f"{one.source}\n\nimport os\n\ndef {one.exercise}(*args, **kwargs):\n    os.abort()\n"
    ran = apart.runs.run_misconception(msgspec.structs.replace(one, source=deadly))
    assert {r.report.verdict for r in ran} == {Verdict.CRASHED}


def test_values_are_compared_on_no_real_gpu() -> None:
    answer = frames.Reply("ok"), []
    probes = [Probe(f"test_f.py::test_x[{on}]", [(b"", answer)]) for on in ("cpu", "float32-cuda")]
    assert [p.test for p in informative_probes(probes, 5)] == ["test_f.py::test_x[cpu]"]
