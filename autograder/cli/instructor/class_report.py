"""`autograder report`: write the class report, and compare modules."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ...classreport.analysis import summarize
from ...classreport.page import course_page, week_page
from ...classreport.report_sources import read_reports, recorded_report
from ...classreport.similar_pairs import student_labels
from ...model.course import Course, Week
from ...model.course.bank import Bank
from ...model.errors import KitError
from ...model.report.schema import Report
from ...model.visible import visible
from ...nbgrader.collect.collector import last_collection
from ...nbgrader.gradebook.report_store import earlier_reports
from ...terminal.console import terminal
from ..output import borderless_table, write_output

if TYPE_CHECKING:
    from ...similarity.compare import Similarity

_MIN_PAIRS = 5


def run_report(
    course: Course,
    week: Week | None,
    files: Sequence[Path],
    *,
    names: bool,
    out: Path | None,
    alike: bool = False,
) -> bool:
    """Write the page of a week or of the course; return False if something needs attention."""
    if alike and week is None:
        raise KitError("--similarity compares the modules of one week: name the week")
    reports = _reports(course, week, files)
    weeks = [w for w in course.weeks if w.name in reports]
    summaries = [
        summarize(
            w,
            reports[w.name],
            {} if files else last_collection(course, w).foreign,
            Bank(course, w).misconceptions,
        )
        for w in weeks
    ]
    for one, summary in zip(weeks if not files else (), summaries, strict=False):
        before = {s.name: earlier_reports(course, one, s.name) for s in summary.graded}
        summary.earlier = {name: reports for name, reports in before.items() if reports}
    if week is None:
        page = course_page(course, summaries, names=names)
    else:
        found = _similarity(course, week, names=names) if alike else None
        page = week_page(course, summaries[0], names=names, similarity=found)
    path = out or Path(f"report-{week.name if week else course.id}.html")
    write_output(path, page.encode())
    for summary in summaries:
        print(
            f"{summary.week}: {len(summary.graded)} graded, {len(summary.refused)} refused, "
            f"mean {summary.mean:.0%}, median {summary.median:.0%}"
        )
        if summary.attempts:
            who = f": {', '.join(map(visible, summary.attempts))}" if names else ""
            print(
                f"ATTEMPT  {summary.week}: {len(summary.attempts)} seem to have tried to "
                f"get around the grading{who}"
            )
        if summary.foreign:
            print(f"LOOK  {summary.week}: {len(summary.foreign)} submitted by a different user")
    print(f"wrote {path}")
    return not any(summary.foreign for summary in summaries)


def _similarity(course: Course, week: Week, *, names: bool) -> Similarity:
    """Compare the week's modules and print the most similar pairs."""
    from ...similarity.collected_modules import similarity

    with terminal(stderr=True).status(f"comparing the modules of {week.name}"):
        found = similarity(course, week)
    called = student_labels(found, names=names)
    table = borderless_table("pair", ">bits", ">x typical", ">shared", "most telling")
    for pair in found.pairs[: max(_MIN_PAIRS, len(found.outliers))]:
        telling = [a.exercise or "outside the exercises" for a in pair.exercises[:2] if a.surprise]
        table.add_row(
            f"{called[pair.first]}, {called[pair.second]}",
            f"{pair.evidence:.1f}",
            f"{pair.ratio:.1f}",
            f"{pair.share:.0%}",
            ", ".join(telling),
            style="bold" if pair.is_outlier else "",
        )
    terminal().print(table)
    number = len(found.outliers)
    print(
        f"{week.name}: {len(found.fingerprints)} modules compared, "
        f"{number} {'pair stands' if number == 1 else 'pairs stand'} out; "
        f"a typical pair has {found.typical:.1f} bits"
    )
    hint = "" if names else " --names shows the names."
    print(f"This is a reason to look, not a proof.{hint}")
    for student, why in found.left_out.items() if names else ():
        print(f"{student}: not compared, {why}")
    if not names and found.left_out:
        print(f"{len(found.left_out)} not compared, because there is nothing to compare")
    return found


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
        where = "these files contain" if files else "the gradebook has"
        raise KitError(
            f"{where} no results of {about}: `autograder grade` a week first, "
            "or name a JSON report with --from"
        )
    return found
