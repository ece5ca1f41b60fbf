"""`autograder report` on a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..classreport.analysis import summarize
from ..classreport.page import course_page, week_page
from ..classreport.sources import read_reports, recorded_report
from ..course import Course, Week
from ..errors import KitError
from ..nbgrader.collected import read_collected
from ..report import Report
from ..store import replace_file


def run_report(
    course: Course, week: Week | None, files: Sequence[Path], *, names: bool, out: Path | None
) -> None:
    """Write the page of a week, or of the course, and say where it is."""
    reports = _reports(course, week, files)
    weeks = [w for w in course.weeks if w.name in reports]
    summaries = [
        summarize(w, reports[w.name], {} if files else read_collected(course, w).foreign)
        for w in weeks
    ]
    if week is None:
        page = course_page(course, summaries, names=names)
    else:
        page = week_page(course, summaries[0], names=names)
    path = out or Path(f"report-{week.name if week else course.id}.html")
    try:
        replace_file(path, page.encode())
    except OSError as error:
        raise KitError(f"{path}: the page cannot be written: {error.strerror}") from None
    for summary in summaries:
        print(
            f"{summary.week}: {len(summary.graded)} graded, {len(summary.refused)} refused, "
            f"mean {summary.mean:.0%}, median {summary.median:.0%}"
        )
        if summary.foreign:
            print(f"LOOK  {summary.week}: {len(summary.foreign)} handed in by another user")
    print(f"wrote {path}")


def _reports(course: Course, week: Week | None, files: Sequence[Path]) -> dict[str, Report]:
    if files:
        found = read_reports(course, files)
    else:
        recorded = {w.name: recorded_report(course, w) for w in course.weeks}
        found = {name: report for name, report in recorded.items() if report is not None}
    if week is not None:
        found = {name: report for name, report in found.items() if name == week.name}
    if not any(report.submissions for report in found.values()):
        about = week.name if week else "the course"
        where = "these files hold" if files else "the gradebook has"
        raise KitError(
            f"{where} no results of {about}: `autograder grade` a week first, "
            "or name a JSON report with --from"
        )
    return found
