"""Write verdicts as JSON for other programs (`--json`): one object on standard output.

`check` reports the public checks, `submit` the hidden tests if their result is visible, and `try`
the result that a student would see. docs/stability.md describes the fields.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

import msgspec

from ...model.report.schema import Verdict
from ..checks.check_results import CheckResult, ExerciseResult
from ..folder.lessons import hints_of, load_state
from ..folder.week import WeekFolder
from . import wording

SCHEMA = 1
# Verdicts by kind of failure and by state of an exercise in the service, if the names differ.
VERDICTS: dict[str, str] = {
    **dict.fromkeys(("raised", "ended", "asks"), "crashed"),
    **dict.fromkeys(("open", "waiting", "missing"), "unwritten"),
    **dict.fromkeys(("complete", "carried"), "pass"),
    **{"broken": "refused", "fault": "grader_fault", "ungraded": "not_run"},
}
_OF_WORDS = {verdict.words: verdict.value for verdict in Verdict}
_LINE = re.compile(r"\bline (\d+)")


class ExerciseVerdict(msgspec.Struct, frozen=True):
    """The verdict on one exercise.

    verdict: a verdict of the report; None if the course hides it until feedback is released
    points: None if they are not known; the public checks give no points
    misconception: a description of the mistake, if the hidden tests recognised one
    hint: the misconception's hint, or the last hint that `autograder hint` showed
    message: the reason for the verdict
    """

    name: str
    verdict: str | None
    points: float | None
    max_points: float
    misconception: str | None = None
    hint: str | None = None
    line: int | None = None
    message: str = ""
    counterexample: dict[str, Any] | None = None


class Verdicts(msgspec.Struct, frozen=True, kw_only=True):
    """The verdicts on a week. `problem`: why it was not checked, such as a syntax error."""

    schema: int = SCHEMA
    week: str
    tests: str  # "public" or "hidden"
    exercises: tuple[ExerciseVerdict, ...]
    problem: str = ""
    notes: tuple[str, ...] = ()
    receipt: str = ""  # of `submit`

    def text(self) -> str:
        """Return the object as ASCII text, which every terminal can show."""
        return json.dumps(msgspec.to_builtins(self), indent=1)


def public_verdicts(folder: WeekFolder, result: CheckResult) -> Verdicts:
    """Convert the results of public checks to verdicts."""
    week = folder.week
    if result.broken:
        problem, line = result.broken.message, result.broken.line or None
        refused = (
            ExerciseVerdict(e.name, VERDICTS["broken"], None, e.points, line=line, message=problem)
            for e in week.exercises
        )
        return Verdicts(week=week.week, tests="public", exercises=tuple(refused), problem=problem)
    exercises = tuple(_of_check(folder, e) for e in result.exercises)
    return Verdicts(week=week.week, tests="public", exercises=exercises, notes=result.notes)


def _of_check(folder: WeekFolder, exercise: ExerciseResult) -> ExerciseVerdict:
    first, name = exercise.first, exercise.name
    failure = first.failure if first else None
    verdict = "not_run" if exercise.state in ("skipped", "unknown") else "pass"
    line, message = None, first.skipped if first else ""
    if failure is not None:
        verdict = VERDICTS.get(failure.kind, failure.kind)
        message = wording.cause(failure, name, folder.week.module)
        line = failure.line or next((p.line for p in failure.places), None)
    shown = hints_of(folder, name)[: load_state(folder.memory).hints.get(name, 0)]
    hint = shown[-1].text if shown else None
    return ExerciseVerdict(name, verdict, None, exercise.points, None, hint, line, message)


def hidden_verdicts(week: str, result: Mapping[str, Any]) -> Verdicts:
    """Return the verdicts of hidden tests. `result`: a `VisibleResult` as the service sends it."""
    exercises = tuple(map(_of_service, result.get("exercises", ())))
    problem = str(result.get("message", ""))
    return Verdicts(week=week, tests="hidden", exercises=exercises, problem=problem)


def submission_verdicts(
    folder: WeekFolder,
    checked: CheckResult | None,
    reply: Mapping[str, Any],
    notes: tuple[str, ...],
) -> Verdicts:
    """Return the verdicts of hidden tests or, if their result is not visible, of public checks.

    checked: the result of the public checks, or None if they did not run
    reply: the last reply of the service, or a receipt of nbgrader
    """
    if result := reply.get("result"):
        found = hidden_verdicts(folder.week.week, result)
    else:
        found = public_verdicts(folder, checked or CheckResult(folder))
    return msgspec.structs.replace(found, receipt=str(reply["receipt"]), notes=notes)


def _of_service(exercise: Mapping[str, Any]) -> ExerciseVerdict:
    cause = next(iter(exercise["causes"]), None)
    named = next(iter(exercise["named"]), None)
    example = exercise.get("counterexample")
    verdict = VERDICTS.get(exercise["state"])
    if verdict is None and exercise["state"]:
        verdict = _OF_WORDS.get(cause["verdict"] if cause else "", "wrong")
    located = _LINE.search(exercise["where"])
    lines = (cause and cause["line"], example and example["line"], located and int(located[1]))
    line = next((line for line in lines if line), None)
    message = cause["claims"][0] if cause and cause["claims"] else ""
    title, hint = (named["title"], named["hint"]) if named else (None, None)
    name, score, points = exercise["name"], exercise["score"], exercise["points"]
    return ExerciseVerdict(name, verdict, score, points, title, hint, line, message, example)
