"""From the verdicts of tests to points.

An exercise earns the weighted share of its tests that passed, among those that could be run here.
One forbidden call costs the exercise its points. Of electives the best ones count, as many as
course.yaml says.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import msgspec

from .course import Exercise, Week
from .report import Diagnosis, ExerciseReport, SubmissionReport, TestReport
from .verdicts import Ending, Verdict


def exercise_report(
    exercise: Exercise,
    tests: tuple[TestReport, ...],
    diagnosis: Iterable[str] = (),
    explained: tuple[Diagnosis, ...] = (),
) -> ExerciseReport:
    counted = [t for t in tests if t.verdict.counted]
    total = sum(t.weight for t in counted)
    earned = sum(t.weight for t in counted if t.verdict is Verdict.PASS)
    share = earned / total if total else 0.0
    if any(t.verdict is Verdict.FORBIDDEN for t in tests):
        share = 0.0
    return ExerciseReport(
        name=exercise.name,
        score=round(exercise.points * share, 4),
        max_score=exercise.points if total else 0.0,
        diagnosis=tuple(diagnosis),
        tests=tests,
        explained=explained,
    )


def submission_report(
    name: str, week: Week, exercises: tuple[ExerciseReport, ...], faults: list[str]
) -> SubmissionReport:
    """The submission's report; a fault in any hidden test makes it a `grader_fault`."""
    kept = counted(week, exercises)
    return SubmissionReport(
        name=name,
        verdict=Ending.GRADER_FAULT if faults else Ending.GRADED,
        score=round(sum(e.score for e in kept), 4),
        max_score=full_points(week),
        seconds=0.0,
        message=f"A hidden test is at fault, not the submission: {faults[0]}" if faults else "",
        exercises=exercises,
    )


def counted(week: Week, exercises: Iterable[ExerciseReport]) -> list[ExerciseReport]:
    """The exercises whose points make the score: all but the electives beyond the best few."""
    electives = {e.name for e in week.exercises if e.elective}
    every = list(exercises)
    if week.electives_counted is None or not electives:
        return every
    best = sorted((e for e in every if e.name in electives), key=lambda e: -e.score)
    return [e for e in every if e.name not in electives] + best[: week.electives_counted]


def full_points(week: Week) -> float:
    """What a perfect submission gets from the graders; written questions are apart."""
    required = sum(e.points for e in week.exercises if not e.elective)
    electives = sorted((e.points for e in week.exercises if e.elective), reverse=True)
    counted = len(electives) if week.electives_counted is None else week.electives_counted
    return float(required + sum(electives[:counted]))


def nothing(exercise: Exercise) -> ExerciseReport:
    """No points, because nothing could be graded."""
    return ExerciseReport(name=exercise.name, score=0.0, max_score=exercise.points)


def rounded(points: float, decimals: int) -> float:
    """Points to so many decimals; half of the last one goes up, as on paper."""
    unit = float(10**decimals)
    return math.floor(points * unit + 0.5 + 1e-9) / unit


def as_given(report: SubmissionReport, week: Week, decimals: int) -> SubmissionReport:
    """A report with its scores as they are given: each exercise's is rounded, and then summed."""
    exercises = tuple(
        msgspec.structs.replace(e, score=rounded(e.score, decimals)) for e in report.exercises
    )
    score = rounded(sum(e.score for e in counted(week, exercises)), decimals)
    return msgspec.structs.replace(report, exercises=exercises, score=score)
