"""Check rules that calls cannot show: the source is read before anything runs."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from ...model.source.reachable import Sources
from ...model.source.rules import Rules, refusals, texts_of
from ..outcomes import Forbidden


def source_problems(
    files: Mapping[str, bytes],
    module: str,
    rules: Mapping[str, Rules],
    replaced: Collection[str] = (),
) -> dict[str, Forbidden]:
    """Return the verdict for each exercise whose source breaks a rule.

    files:    everything that was submitted
    rules:    for each exercise of the module
    replaced: functions of the module whose own code does not run
    """
    found = refusals(Sources(texts_of(files), module), rules, replaced)
    return {exercise: Forbidden(refusal.message) for exercise, refusal in found.items()}
