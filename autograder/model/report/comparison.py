"""Compare two reports of a submission, and explain why a score changed."""

from collections import Counter

from .schema import ExerciseReport, SubmissionReport, TestReport, base_of


def differ(old: SubmissionReport, new: SubmissionReport) -> bool:
    """Return True if two reports differ in any field except `seconds`.

    The reports may be instances of subclasses, whose additional fields are not compared.
    """
    fields = (name for name in SubmissionReport.__struct_fields__ if name != "seconds")
    return any(getattr(old, name) != getattr(new, name) for name in fields)


def changes(old: SubmissionReport, new: SubmissionReport) -> list[str]:
    """Return a line for each change, such as `softmax: test_axis: wrong → pass (2 axes)`."""
    before = {e.name: e for e in old.exercises}
    found = []
    for exercise in new.exercises:
        former = before.get(exercise.name) or ExerciseReport(exercise.name, 0.0, 0.0)
        reasons = _changed_tests(former, exercise)
        if old.verdict != new.verdict:
            reasons = [f"the submission was {old.verdict}, now it is {new.verdict}"]
        if former.score != exercise.score and not reasons:
            reasons = ["points or weights changed"]
        found += [f"{exercise.name}: {reason}" for reason in reasons]
    return found


def _changed_tests(old: ExerciseReport, new: ExerciseReport) -> list[str]:
    before, after = ({t.name: t for t in exercise.tests} for exercise in (old, new))
    counted: Counter[tuple[str, str]] = Counter()
    for name in dict.fromkeys((*before, *after)):
        if change := _change(before.get(name), after.get(name)):
            counted[base_of(name).split("::")[-1], change] += 1
    return [
        f"{function}: {change}" + (f" ({axes} axes)" if axes > 1 else "")
        for (function, change), axes in counted.items()
    ]


def _change(old: TestReport | None, new: TestReport | None) -> str:
    if old is None or new is None or old.verdict != new.verdict:
        verdicts = (test.verdict if test else "absent" for test in (old, new))
        return " → ".join(verdicts)
    if old.weight != new.weight:
        return f"weight {old.weight:g} → {new.weight:g}"
    return ""
