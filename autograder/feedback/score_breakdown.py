"""How the points of an exercise were worked out, as a short sum."""

from __future__ import annotations

from dataclasses import dataclass

from ..model.report.schema import ExerciseReport
from ..model.report.verdicts import Verdict

_MINUS = "\N{MINUS SIGN}"
_TRIVIAL = (
    "because each check that passes would also pass with zeros, an argument or another trivial "
    "answer. They count as soon as one more check passes"
)


@dataclass(frozen=True)
class ArithmeticLine:
    """One line of the sum: a signed number and its reason."""

    amount: str
    reason: str

    def __str__(self) -> str:
        return f"{self.amount} {self.reason}".strip()


def arithmetic(report: ExerciseReport) -> list[ArithmeticLine]:
    """Return the sum for an exercise that lost some of its points, else an empty list."""
    trivial = not report.score and any(t.verdict is Verdict.PASS for t in report.tests)
    if not (0 < report.score < report.max_score or report.deductions or trivial):
        return []
    if any(t.verdict is Verdict.FORBIDDEN and not t.carried for t in report.tests):
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
    """Return a sentence about checks that fail only because of a different exercise, or ""."""
    has_mistake = any(t.verdict.failed and not t.carried for t in report.tests)
    replaced = ""
    if report.beside and has_mistake:
        names = _listed([f"`{name}`" for name in report.beside])
        replaced = f"We tested this with a correct {names}."
    if not report.inherits:
        return replaced
    tests = [t for t in report.tests if t.carried]
    cause = _listed([f"`{name}`" for name in report.inherits])
    cost = "cost nothing" if min(t.carried for t in tests) >= 1.0 else "count only in part"
    checks, fail, they = "check", "fails", "it"
    if len(tests) > 1:
        checks, fail, they = "checks", "fail", "they"
    else:
        cost = cost.replace("cost ", "costs ").replace("count ", "counts ")
    if has_mistake:
        start = f"{len(tests)} more {checks} {fail} only because of {cause}; {they} {cost} here."
        return f"{start} {replaced}".rstrip()
    return (
        f"Correct, except for {cause}, which it calls: {len(tests)} {checks} {fail} only because "
        f"of that and {cost} here."
    )


def _by_mistakes(report: ExerciseReport) -> list[ArithmeticLine]:
    titles = {d.name: d.title for d in report.explained}
    lines = []
    for deduction in report.deductions:
        title = titles.get(deduction.name, deduction.name).rstrip(".")
        if deduction.counted_in == report.name:
            lines.append(ArithmeticLine(f"{_MINUS} 0", f"{title}: the same mistake as above"))
        elif deduction.counted_in:
            lines.append(
                ArithmeticLine(
                    f"{_MINUS} 0", f"{title}: already counted in `{deduction.counted_in}`"
                )
            )
        else:
            share = round(100 * deduction.points / report.max_score)
            lines.append(
                ArithmeticLine(f"{_MINUS} {_points(deduction.points)}", f"({share} %) {title}")
            )
    total = sum(t.weight for t in report.tests if t.verdict.counted) or 1.0
    carried = sum(t.weight * (1.0 - t.carried) for t in report.tests if t.carried) / total
    elsewhere = report.max_score * carried
    left = report.max_score - sum(d.points for d in report.deductions) - report.score - elsewhere
    for points, reason in (
        (elsewhere, "for checks that fail because of a different exercise"),
        (left, "for checks that fail for another reason"),
    ):
        if points > 0.004:
            lines.append(ArithmeticLine(f"{_MINUS} {_points(points)}", reason))
    return lines


def _by_tests(report: ExerciseReport) -> list[ArithmeticLine]:
    counted = [t for t in report.tests if t.verdict.counted]
    total = sum(t.weight for t in counted)
    lost = sum(t.weight * (1.0 - t.earned_share) for t in counted)
    failed = sum(t.verdict.failed and t.carried < 1.0 for t in counted)
    checks = "failed check" if failed == 1 else "failed checks"
    share = f"({_points(lost)} of {_points(total)} parts)"
    return [
        ArithmeticLine(
            f"{_MINUS} {_points(report.max_score - report.score)}", f"{share} {failed} {checks}"
        )
    ]


def _listed(names: list[str]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def _points(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")
