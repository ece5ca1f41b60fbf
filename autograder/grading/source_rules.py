"""What the source shows and calls cannot: the rules of `rules.py` as verdicts of the grading.

Read on the trusted side, in all files that were handed in, before anything runs.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from ..model.rules import Rules, may_be_evasive, refusals, texts_of
from ..model.sources import Sources
from .outcomes import Forbidden


def source_problems(
    files: Mapping[str, bytes],
    module: str,
    rules: Mapping[str, Rules],
    replaced: Collection[str] = (),
) -> dict[str, Forbidden]:
    """The verdict `forbidden` for each exercise whose source uses what it must not.

    `rules` maps each exercise of the module to what holds for it. `replaced` names functions of the
    module whose own code does not run.
    """
    texts = texts_of(files)
    named = any(r.source_not_allowed for r in rules.values())
    if not named and not may_be_evasive(texts):
        return {}
    found = refusals(Sources(texts, module), rules, replaced)
    return {exercise: Forbidden(refusal.message) for exercise, refusal in found.items()}
