"""Name the ways in which an exercise breaks its contract with callers.

Its parameters do not load, inputs that callers may pass raise exceptions, or its results have a
wrong type, dtype or shape. `triviality.work_check` runs such an exercise as if it fitted.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ..model.course.bank import Misconception
from ..model.report.schema import Diagnosis
from ..model.report.scoring import COST_OF_STATE, Mistake
from .diagnosis.symptoms import by_symptom
from .naming import MistakeNames
from .outcomes import Flaw
from .running.pytest_plugin import Ran
from .running.test_runner import Files, Runs


class Contract(NamedTuple):
    """A broken contract."""

    mistake: Mistake
    diagnosis: Diagnosis


def broken_contracts(
    names: MistakeNames,
    runs: Runs,
    exercise: str,
    ran: Sequence[Ran],
    explained: frozenset[str],
    files: Files,
) -> list[Contract]:
    """Return the broken contracts of an exercise; [] if none has a name.

    explained: failed tests that pass, or have another name, once the exercise fits its contract
    """
    broken = [r for r in ran if r.report.name in explained]
    total = sum(r.report.verdict.failed for r in ran)
    adapter, found = runs.bank.adapters.get(exercise), list[Contract]()
    if adapter is not None and (raised := sum(r.report.verdict.raised for r in broken)):
        found.append(_known(adapter, raised, total))
    for flaw in (Flaw.STATE, Flaw.KIND):
        tests = [r for r in broken if r.flaw is flaw]
        if not tests:
            continue
        named = (
            n.name for some in (ran, tests) for n in names.misconceptions(exercise, some, files)
        )
        if known := _with_flaw(runs, exercise, flaw, named):
            found.append(_known(known, len(tests), total))
        elif shown := by_symptom(tests, ran, runs.right_answers(exercise)):
            cost = COST_OF_STATE if flaw is Flaw.STATE else names.typical_cost(exercise, tests)
            found.append(Contract(Mistake(shown[0].name, cost, breaks_contract=True), shown[0]))
    return found


def _known(one: Misconception, count: int, of: int) -> Contract:
    mistake = Mistake(one.name, one.cost, one.belief, breaks_contract=True)
    return Contract(mistake, Diagnosis(one.name, one.title, one.hint, count, of))


def _with_flaw(runs: Runs, exercise: str, flaw: Flaw, names: Iterable[str]) -> Misconception | None:
    """Return the first of these misconceptions that fails tests by a flaw."""
    bank = runs.of_misconceptions(exercise)
    known = {m.name: m for m in runs.bank.of_exercise(exercise) if m.cost is not None}
    found = (n for n in names if n in known and any(r.flaw is flaw for r in bank[n]))
    return next((known[n] for n in found), None)
