"""How an exercise's points came about, as a short sum that a student can check."""

from __future__ import annotations

from dataclasses import dataclass

from ..model.report.schema import ExerciseReport
from ..model.report.verdicts import Verdict

_MINUS = "\N{MINUS SIGN}"
_IN_VAIN = (
    "because each check that passes also passes with zeros, an argument or another simple answer. "
    "It counts as soon as another check passes"
)


@dataclass(frozen=True)
class ArithmeticLine:
    """One line of the sum: a number with its sign, and what it is for."""

    amount: str
    reason: str

    def __str__(self) -> str:
        return f"{self.amount} {self.reason}".strip()


def arithmetic(report: ExerciseReport) -> list[ArithmeticLine]:
    """The sum for an exercise that lost points; none if nothing or everything was lost."""
    in_vain = not report.score and any(t.verdict is Verdict.PASS for t in report.tests)
    if not (0 < report.score < report.max_score or report.deductions or in_vain):
        return []
    if any(t.verdict is Verdict.FORBIDDEN and not t.carried for t in report.tests):
        return []
    if in_vain and not report.deductions:
        lines = [ArithmeticLine(f"{_MINUS} {_points(report.max_score)}", _IN_VAIN)]
    else:
        lines = _by_mistakes(report) if report.deductions else _by_tests(report)
    return [
        ArithmeticLine(f"{_points(report.max_score)}", "for the exercise"),
        *lines,
        _result(report),
    ]


def carried_words(report: ExerciseReport) -> str:
    """Whose mistake an exercise carries, in a sentence or two; empty if there is none.

    One that has a mistake of its own besides is not called right.
    """
    own = [t for t in report.tests if t.verdict.failed and not t.carried]
    stood_in = ""
    if report.beside and own:
        names = _listed([f"`{name}`" for name in report.beside])
        stood_in = f"What you read here was found with a right {names} in the place of yours."
    if not report.inherits:
        return stood_in
    tests = [t for t in report.tests if t.carried]
    whose = _listed([f"`{name}`" for name in report.inherits])
    wholly = min(t.carried for t in tests) >= 1.0
    counts = "nothing here" if wholly else "only in part"
    verb = "cost" if wholly else "count"
    if own:
        start = f"Beside what is wrong here, your {whose} alone makes"
        if len(tests) == 1:
            return f"{start} 1 check fail, which {verb}s {counts}. {stood_in}".rstrip()
        return f"{start} {len(tests)} checks fail, which {verb} {counts}. {stood_in}".rstrip()
    if len(tests) == 1:
        what = f"1 check fails for that reason alone, and {verb}s"
    else:
        what = f"{len(tests)} checks fail for that reason alone, and {verb}"
    return f"Right, given your {whose}: {what} {counts}."


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
        (elsewhere, "for checks that another exercise's mistake fails"),
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
    checks = "check that does not hold" if failed == 1 else "checks that do not hold"
    share = f"({_points(lost)} of {_points(total)} parts)"
    return [
        ArithmeticLine(
            f"{_MINUS} {_points(report.max_score - report.score)}", f"{share} {failed} {checks}"
        )
    ]


def _result(report: ExerciseReport) -> ArithmeticLine:
    return ArithmeticLine(f"= {_points(report.score)}", "")


def _listed(names: list[str]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def _points(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")
