"""Read a class's reports: those recorded in the gradebook, or JSON files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from ..model.course import Course, Week
from ..model.errors import KitError
from ..model.report.schema import Report, SubmissionReport, from_json
from ..nbgrader.gradebook.report_store import recorded_folder


def recorded_report(course: Course, week: Week) -> Report | None:
    """Return the reports behind the scores in nbgrader's gradebook, or None if there are none."""
    submissions = []
    for path in sorted(recorded_folder(course, week).glob("*.json")):
        try:
            submissions.append(msgspec.json.decode(path.read_bytes(), type=SubmissionReport))
        except msgspec.MsgspecError:
            raise KitError(
                f"{path}: not a report of this version: run `autograder grade {week.name}` again"
            ) from None
    return Report(week.name, (), tuple(submissions)) if submissions else None


def read_reports(course: Course, files: Sequence[Path]) -> dict[str, Report]:
    """Return JSON reports by week; raise KitError. The last report of a student counts."""
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
