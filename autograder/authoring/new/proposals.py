"""Propose misconceptions for a new exercise: mutants of its solution that change its results.

The results of a proposal differ from those of the solution and of all previous proposals, so that a
test can reject it and grading can distinguish it. The author decides which mistakes are realistic.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Sequence
from itertools import islice

import msgspec

from ..verify.mutants import Mutant, mutants
from .probing import CallOutcome, SampleCall, TooManyLines, define, equal, run

_SEEDS = (0, 1, 2)
_MAX_TRIED = 200
_CallOutcomes = list[list[CallOutcome]]  # by call and seed


class Proposal(msgspec.Struct, frozen=True):
    """A wrong version of an exercise.

    before, after: the code that differs
    source: the definitions that differ, as a misconception file contains them
    rejected_by: the indices of the calls whose results differ for every seed
    """

    before: str
    after: str
    source: str
    rejected_by: tuple[int, ...]


def propose(module: str, name: str, calls: Sequence[SampleCall], limit: int = 10) -> list[Proposal]:
    """Return up to `most` wrong versions of the function `name`, from different lines first."""
    seen = [_outcomes(module, name, calls)]
    found: list[Proposal] = []
    for mutant in islice(_by_line(module), _MAX_TRIED):
        try:
            outcomes = _outcomes(mutant.source, name, calls)
        except (Exception, TooManyLines):  # of a mutant's top level
            continue
        if any(o.error for o in outcomes[0]) or not all(_differing(outcomes, o) for o in seen):
            continue
        source = _changed_definitions(module, mutant.source)
        rejected_by = _differing(outcomes, seen[0])
        found.append(Proposal(mutant.before, mutant.after, source, rejected_by))
        seen.append(outcomes)
        if len(found) == limit:
            break
    return found


def _by_line(module: str) -> list[Mutant]:
    """Return the mutants, the first of every line before the second of any."""
    count = Counter[int]()
    ranked = []
    for mutant in mutants(module):
        count[mutant.line] += 1
        ranked.append((count[mutant.line], mutant))
    return [mutant for _, mutant in sorted(ranked, key=lambda pair: pair[0])]


def _outcomes(module: str, name: str, calls: Sequence[SampleCall]) -> _CallOutcomes:
    function = define(module)[name]
    return [[run(function, call, seed) for seed in _SEEDS] for call in calls]


def _differing(a: _CallOutcomes, b: _CallOutcomes) -> tuple[int, ...]:
    """Return the indices of the calls whose results differ for every seed."""
    pairs = enumerate(zip(a, b, strict=True))
    return tuple(i for i, (x, y) in pairs if not any(map(equal, x, y)))


def _changed_definitions(before: str, after: str) -> str:
    known = {ast.dump(node) for node in ast.parse(before).body}
    changed = [node for node in ast.parse(after).body if ast.dump(node) not in known]
    return "\n\n\n".join(map(ast.unparse, changed)) + "\n"
