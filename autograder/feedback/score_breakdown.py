"""Explain the score of an exercise as a short calculation."""

import msgspec

from ..model.report.schema import ExerciseReport, Verdict
from ..pages.environment import points

_MINUS = "\N{MINUS SIGN}"
_TRIVIAL = (
    "because each check that passes would also pass with zeros, an argument or another trivial "
    "answer. They count as soon as one more check passes"
)


class ArithmeticLine(msgspec.Struct, frozen=True):
    """One line of the calculation: an amount of points and its reason."""

    amount: str
    reason: str

    def __str__(self) -> str:
        return f"{self.amount} {self.reason}".strip()


def arithmetic(report: ExerciseReport) -> list[ArithmeticLine]:
    """Return the lines of the calculation, or [] if the verdicts alone explain the score."""
    trivial = not report.score and any(t.verdict is Verdict.PASS for t in report.tests)
    if not (0 < report.score < report.max_score or report.deductions or trivial):
        return []
    if any(t.verdict.breaks_a_rule and not t.carried for t in report.tests):
        return []
    if trivial and not report.deductions:
        lines = [ArithmeticLine(f"{_MINUS} {_points(report.max_score)}", _TRIVIAL)]
    else:
        lines = _by_mistakes(report) if report.deductions else _by_tests(report)
    return [
        ArithmeticLine(f"{_points(report.max_score)}", "for the exercise"),
        *lines,
        ArithmeticLine(f"= {_points(report.score)}", ""),
    ]


def carried_words(report: ExerciseReport) -> str:
    """Describe how mistakes in other exercises affect this one; return "" if they do not."""
    has_mistake = any(t.verdict.failed and not t.carried for t in report.tests)
    replaced = ""
    if report.beside and has_mistake:
        names = _listed([f"`{name}`" for name in report.beside])
        replaced = f"We tested this with a correct {names}."
    if not report.inherits:
        return replaced
    tests = [t for t in report.tests if t.carried]
    cause = _listed([f"`{name}`" for name in report.inherits])
    count, one = len(tests), len(tests) == 1
    fail = f"{'check fails' if one else 'checks fail'} only because of"
    if min(t.carried for t in tests) >= 1.0:
        cost = "costs nothing" if one else "cost nothing"
    else:
        cost = "counts only in part" if one else "count only in part"
    if has_mistake:
        they = "it" if one else "they"
        return f"{count} more {fail} {cause}; {they} {cost} here. {replaced}".rstrip()
    return f"Correct, except for {cause}, which it calls: {count} {fail} that and {cost} here."


def _by_mistakes(report: ExerciseReport) -> list[ArithmeticLine]:
    titles = {d.name: d.title for d in report.explained}
    lines = []
    for deduction in report.deductions:
        title = titles.get(deduction.name, deduction.name).rstrip(".")
        if not deduction.counted_in:
            share = round(100 * deduction.points / report.max_score)
            reason = f"({share} %) {title}"
        elif deduction.counted_in == report.name:
            reason = f"{title}: the same mistake as above"
        else:
            reason = f"{title}: already counted in `{deduction.counted_in}`"
        cost = 0.0 if deduction.counted_in else deduction.points
        lines.append(ArithmeticLine(f"{_MINUS} {_points(cost)}", reason))
    total = sum(t.weight for t in report.tests if t.verdict.counted) or 1.0
    carried = sum(t.weight * (1.0 - t.carried) for t in report.tests if t.carried) / total
    elsewhere = report.max_score * carried
    left = report.max_score - sum(d.points for d in report.deductions) - report.score - elsewhere
    for lost, reason in (
        (elsewhere, "for checks that fail because of a different exercise"),
        (left, "for failed checks that this does not explain"),
    ):
        if lost > 0.004:
            lines.append(ArithmeticLine(f"{_MINUS} {_points(lost)}", reason))
    return lines


def _by_tests(report: ExerciseReport) -> list[ArithmeticLine]:
    counted = [t for t in report.tests if t.verdict.counted]
    total = sum(t.weight for t in counted)
    lost = sum(t.weight * (1.0 - t.earned_share) for t in counted)
    failed = sum(t.verdict.failed and t.carried < 1.0 for t in counted)
    checks = "failed check" if failed == 1 else "failed checks"
    amount = f"{_MINUS} {_points(report.max_score - report.score)}"
    reason = f"({_points(lost)} of {_points(total)} parts) {failed} {checks}"
    return [ArithmeticLine(amount, reason)]


def _listed(names: list[str]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def _points(value: float) -> str:
    return points(round(value, 2))
