"""Why a submission's score changes between two reports: which tests say something else now."""

from __future__ import annotations

from collections import Counter

import msgspec

from .schema import ExerciseReport, SubmissionReport, TestReport, base_of

_ABSENT = "not there"


def differ(old: SubmissionReport, new: SubmissionReport) -> bool:
    """Return whether two reports differ in more than their times."""
    fields = ("verdict", "score", "max_score", "message", "exercises", "attempts", "unexplained")
    return any(getattr(old, f) != getattr(new, f) for f in fields)


class ExerciseChange(msgspec.Struct, frozen=True):
    """An exercise whose verdicts or score differ."""

    name: str
    old: float
    new: float
    reasons: tuple[str, ...]  # such as `test_axis: wrong → pass (2 axes)`


def changes(old: SubmissionReport, new: SubmissionReport) -> list[ExerciseChange]:
    """The exercises whose score or tests changed, with the reasons."""
    before = {e.name: e for e in old.exercises}
    found = []
    for exercise in new.exercises:
        former = before.get(exercise.name) or ExerciseReport(exercise.name, 0.0, 0.0)
        reasons = _reasons(former, exercise)
        if old.verdict != new.verdict:
            reasons = [f"the submission was {old.verdict}, now it is {new.verdict}"]
        if former.score != exercise.score and not reasons:
            reasons = ["points or weights changed"]
        if reasons:
            found.append(
                ExerciseChange(exercise.name, former.score, exercise.score, tuple(reasons))
            )
    return found


def _reasons(old: ExerciseReport, new: ExerciseReport) -> list[str]:
    """A line per test function and kind of change; its axes are counted."""
    before, after = _tests(old), _tests(new)
    counted: Counter[tuple[str, str]] = Counter()
    for name in dict.fromkeys((*before, *after)):
        was, now = before.get(name), after.get(name)
        change = _change(was, now)
        if change:
            counted[base_of(name).split("::")[-1], change] += 1
    return [
        f"{function}: {change}" + (f" ({axes} axes)" if axes > 1 else "")
        for (function, change), axes in counted.items()
    ]


def _tests(exercise: ExerciseReport) -> dict[str, TestReport]:
    return {t.name: t for t in exercise.tests}


def _change(was: TestReport | None, now: TestReport | None) -> str:
    old = was.verdict if was else _ABSENT
    new = now.verdict if now else _ABSENT
    if old != new:
        return f"{old} → {new}"
    if was and now and was.weight != now.weight:
        return f"weight {was.weight:g} → {now.weight:g}"
    return ""
