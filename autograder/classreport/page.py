"""Render the class report as HTML that works offline, on phones, and in light and dark mode.

A page is built from the recorded reports or from JSON files, and shows the code of similar modules
side by side. Students choose the names of submissions, so templates escape everything, and the
page's Content-Security-Policy forbids scripts and external resources.
"""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import msgspec

from ..files import read_state
from ..model.course import Course, Week
from ..model.errors import KitError
from ..model.report.schema import Report, SubmissionReport, from_json
from ..nbgrader.gradebook.report_store import recorded_folder
from ..pages.environment import environment
from ..similarity import ExerciseSimilarity, Lines, Similarity, SimilarPair
from .analysis import MIN_STUDENTS, WeekSummary

_MAX_MISTAKES = 15
_MAX_PAIRS = 5  # pairs whose code is shown
_MIN_SURPRISE = 1.0  # bits; less surprising exercises are not shown
Code = list[tuple[int, str, bool] | None]
"""Number, text, and whether both modules share the line; None stands for a gap."""


def recorded_report(course: Course, week: Week) -> Report | None:
    """Return the reports behind the scores in the gradebook, or None if none are recorded.

    Raise KitError if a report cannot be decoded, for example after an update of the kit.
    """
    submissions = []
    for path in sorted(recorded_folder(course, week).glob("*.json")):
        remedy = f"run `autograder grade {week.name}` again"
        damaged = KitError(f"{path}: not a report of this version: {remedy}")
        submissions.append(read_state(path, SubmissionReport, damaged))
    return Report(week.name, (), tuple(filter(None, submissions))) if submissions else None


def read_reports(course: Course, files: Sequence[Path]) -> dict[str, Report]:
    """Read reports by week, the last one per student; raise KitError if a file is invalid."""
    found: dict[str, Report] = {}
    for path in files:
        try:
            report = from_json(path.read_bytes())
        except OSError as error:
            raise KitError(f"{path}: cannot be read: {error.strerror}") from None
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise KitError(f"{path}: not a report of `autograder grade --json`: {error}") from None
        name = course.week(report.week).name
        if name in found:
            joined = {s.name: s for s in (*found[name].submissions, *report.submissions)}
            report = msgspec.structs.replace(report, submissions=tuple(joined.values()))
        found[name] = report
    return found


class PairComparison(NamedTuple):
    """Two similar modules, the labels of their students, and the code of similar exercises."""

    pair: SimilarPair
    first: str
    second: str
    exercises: list[tuple[ExerciseSimilarity, Code, Code]]


def compare_pairs(found: Similarity, *, names: bool) -> list[PairComparison]:
    """Compare up to `_MAX_PAIRS` outliers, or the most similar pair if there are no outliers.

    names: label the students by name instead of by number.
    """
    students = dict.fromkeys(n for p in found.pairs for n in (p.first, p.second))
    labels = {s: s if names else f"student {n}" for n, s in enumerate(students, start=1)}
    comparisons = []
    for pair in (found.outliers or found.pairs[:1])[:_MAX_PAIRS]:
        left, right = found.shared_lines(pair)
        code = partial(_code, found)
        exercises = [
            (e, code(pair.first, e.exercise, left), code(pair.second, e.exercise, right))
            for e in pair.exercises
            if e.surprise >= _MIN_SURPRISE
        ]
        first, second = labels[pair.first], labels[pair.second]
        comparisons.append(PairComparison(pair, first, second, exercises))
    return comparisons


def _code(found: Similarity, student: str, exercise: str, shared: Lines) -> Code:
    text = found.modules[student].split("\n")
    code: Code = []
    previous = 0
    for number in sorted(found.fingerprints[student].exercise_lines[exercise]):
        if previous and number > previous + 1:
            code.append(None)
        code.append((number, text[number - 1], number in shared))
        previous = number
    return code


def week_page(
    course: Course, summary: WeekSummary, *, names: bool, similarity: Similarity | None = None
) -> str:
    """Return the HTML page of a week. `names`: show students' names."""
    template = environment("classreport").get_template("class_week.html.j2")
    return template.render(
        course=course,
        summary=summary,
        names=names,
        min_students=MIN_STUDENTS,
        similarity=similarity,
        comparisons=compare_pairs(similarity, names=names) if similarity else [],
    )


def course_page(course: Course, summaries: Sequence[WeekSummary], *, names: bool) -> str:
    """Return the HTML page of the course, with its weeks side by side."""
    mistakes = [(w.week, m) for w in summaries for m in w.mistakes]
    mistakes.sort(key=lambda pair: -len(pair[1].students))
    template = environment("classreport").get_template("class_course.html.j2")
    return template.render(
        course=course,
        summaries=summaries,
        students=sorted({s.name for week in summaries for s in week.graded}),
        scores={(w.week, s.name): s for w in summaries for s in w.graded},
        mistakes=mistakes[:_MAX_MISTAKES],
        names=names,
    )
