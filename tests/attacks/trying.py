"""Run one attack in the real sandbox: it must not gain points, leak data or affect others."""

from __future__ import annotations

from pathlib import Path

import pytest
from _pytest.mark.structures import ParameterSet

from tests.attacks.attackfiles import Attack, attacks
from tests.attacks.laboratory import LEFT_BEHIND, NEIGHBOUR, SECRET, Laboratory, inputs_in
from tests.attacks.smallcourse import CANARIES

ALL = attacks()
_FIRST = {a.path: a for a in reversed(ALL)}
_LAST = {a.path: a for a in ALL}
# After these variants of each file, an honest neighbour is graded in the same warm engine.
_FOLLOWED = {a.name for a in (*_FIRST.values(), *_LAST.values())}
_SAMPLE = [*_FIRST.values()][::3]
_THOROUGH = pytest.mark.thorough
# Maximum growth of the trusted process at any time, for any answer.
_MOST_RISEN = 64 << 20
# Time on top of the submission's limit: restarts, comparison, diagnosis.
_GRACE_SECONDS = 4.0


def of_groups(*groups: str) -> list[ParameterSet]:
    """Return the attacks of these folders; all but the first of every third file are thorough.

    Attacks that exhaust a limit are thorough too: they wait, and test_limits tests each limit.
    """
    found = [a for a in ALL if a.path.parent.name in groups]
    return [pytest.param(a, id=a.name, marks=() if _is_quick(a) else _THOROUGH) for a in found]


def _is_quick(attack: Attack) -> bool:
    return attack in _SAMPLE and attack.path.parent.name != "exhaust"


def last_variants(week: str) -> list[Attack]:
    """Return the last variant of each file of a week."""
    return [a for a in _LAST.values() if a.week == week]


def try_one(lab: Laboratory, attack: Attack, tmp_path: Path) -> None:
    always = lab.always(attack.week)
    submission = lab.submission(attack, tmp_path)
    trial = lab.grade(submission, attack.week)
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
    risen = trial.risen
    if risen > _MOST_RISEN:  # the first wrong program of its kind also imports modules
        risen = lab.grade(submission, attack.week).risen
    assert risen <= _MOST_RISEN, f"the grader grew by {risen >> 20} MiB"
    assert not trial.report.unexplained, trial.report.unexplained
    assert attack.tries <= set(trial.report.attempts), "the attempt is not reported"
    assert "get around" not in trial.page, "only the instructor may see the attempt"
    limits = lab.course.limits(lab.week(attack.week))
    # Twice the limit: it counts the submission's own time only, not that of a slow machine.
    assert trial.seconds < 2 * limits.submission_seconds + _GRACE_SECONDS, trial.seconds
    if attack.name in _FOLLOWED:
        assert lab.honest(attack.week) == always, "an honest neighbour's report has changed"
