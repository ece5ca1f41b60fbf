"""Every attack against the real sandbox: nothing gained, nothing learnt, nobody else touched."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from autograder.batch.grade import grade_batch
from autograder.batch.intake import Submission
from autograder.sandbox import SandboxMissing, choose
from tests.attacks.attackfiles import Attack, attacks
from tests.attacks.laboratory import (
    ATTACKED,
    LEFT_BEHIND,
    NEIGHBOUR,
    SECRET,
    Laboratory,
    inputs_in,
    plain,
)
from tests.attacks.smallcourse import CANARIES

ALL = attacks()
# After the last variant of each file, an honest neighbour is graded in the same warm engine.
LAST = list({a.path: a for a in ALL}.values())
# What the trusted process may grow by at any moment, whatever it is answered.
_MOST_RISEN = 64 << 20
# Beyond the submission's own limit: starting anew, comparing, diagnosing.
_GRACE_SECONDS = 4.0


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Laboratory]:
    try:
        choose(ATTACKED)
    except SandboxMissing as error:
        pytest.skip(str(error))
    laboratory = Laboratory(tmp_path_factory.mktemp("laboratory"))
    yield laboratory
    laboratory.close()


@pytest.mark.parametrize("attack", ALL, ids=lambda a: a.name)
def test_attack(lab: Laboratory, attack: Attack, tmp_path: Path) -> None:
    always = lab.always(attack.week)
    trial = lab.grade(lab.submission(attack, tmp_path), attack.week)
    for exercise, most in attack.most.items():
        assert trial.score(exercise) <= most, f"{exercise} earned more than honest code would"
    for exercise, expected in attack.expected.items():
        verdicts = trial.verdicts(exercise or next(iter(attack.most)))
        if "graded" in expected and trial.report.verdict == "graded":
            continue
        unexpected = verdicts - expected - {"pass"}
        assert not unexpected, (unexpected, trial.report.message, trial.report.exercises)
        assert "pass" in expected or verdicts - {"pass"}, "no test noticed"
    assert not attack.fails & trial.passed, "a hidden test that must notice did not"
    for canary in (*CANARIES, NEIGHBOUR, LEFT_BEHIND, SECRET.decode()):
        if canary not in attack.body:
            assert canary.encode() not in trial.said, "a secret was read"
        assert canary not in trial.shown, "a secret is shown"
    loot = trial.said.find(b'"printed":"') >= 0 and trial.said.find(b"LOOT:")
    assert loot in (False, -1), trial.said[loot : loot + 200]
    assert not inputs_in(trial), "hidden inputs are shown"
    assert "<script>alert" not in trial.page
    assert "<img src=x" not in trial.page
    assert "\x1b" not in trial.shown.replace("\\u001b", "\x1b"), "terminal escapes are shown"
    assert trial.risen <= _MOST_RISEN, f"the grader grew by {trial.risen >> 20} MiB"
    assert attack.tries <= set(trial.report.attempts), "the instructor would not hear of it"
    assert "get around" not in trial.page, "what was tried is the instructor's to know"
    limits = lab.course.limits(lab.week(attack.week))
    assert trial.seconds < limits.submission_seconds + _GRACE_SECONDS
    if attack in LAST:
        assert lab.honest(attack.week) == always, "an honest neighbour's report has changed"


def test_every_line_of_the_list_has_an_attack() -> None:
    beside = {57, 58, 59, 60}  # faults of our own: tests/faults
    assert {a.line for a in ALL} == set(range(1, 57)) - beside


def test_attacks_beside_honest_neighbours_in_a_pool(lab: Laboratory, tmp_path: Path) -> None:
    week = lab.week("week01_softmax")
    source = lab.solution(week.name) + f"\n# {NEIGHBOUR}\n"
    chosen = [
        a for a in ALL if a.week == week.name and a.variant in ("", "bytes", "overlap", "noise")
    ]
    submissions = []
    for number, attack in enumerate(chosen[::12]):
        (tmp_path / str(number)).mkdir()
        submissions.append(lab.submission(attack, tmp_path / str(number)))
        honest = f"{source}# {number}\n".encode()
        submissions.append(Submission("neighbour", {week.module: honest}))
    report = grade_batch(
        lab.course, week, submissions, devices=("cpu", "fake-gpu"), jobs=2, sandbox=ATTACKED
    )
    reports = [plain(s) for s in report.submissions if s.name == "neighbour"]
    assert len(report.submissions) == len(submissions)
    assert set(reports) == {lab.always(week.name)}


def test_nothing_is_left(lab: Laboratory) -> None:
    lab.close()
    assert not lab.left()
