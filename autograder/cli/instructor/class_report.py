"""`report`: write the class report of a week or of the course."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from ...model.course import Course, Week, load
from ...model.errors import KitError
from ...model.message_text import plural, visible
from ...terminal.console import Terminal
from ..app import flag
from ..output import write_output

if TYPE_CHECKING:
    from ...model.report.schema import Report
    from ...similarity import Similarity


def report(
    week: Annotated[str | None, Argument(help="A week; default: the whole course.")] = None,
    files: Annotated[
        list[Path] | None,
        Option("--from", help="A report from `grade --json`; default: the recorded results."),
    ] = None,
    names: Annotated[bool, flag("names", "Include the students' names.")] = False,
    similarity: Annotated[bool, flag("similarity", "Show suspiciously similar modules.")] = False,
    out: Annotated[Path | None, Option(help="The HTML file; default: report-WEEK.html.")] = None,
) -> bool:
    """Write the class report of a week or of the course, an HTML page for the instructor.

    Exit code 1 if a submission was made by a different user.

    Example: autograder report week01 --similarity --names
    """
    course = load()
    chosen = course.week(week) if week else None
    if similarity and chosen is None:
        raise KitError("--similarity compares the modules of one week: name the week")
    from ...classreport.analysis import summarize
    from ...classreport.page import course_page, week_page
    from ...model.course.bank import Bank
    from ...nbgrader.collect.collector import last_collection
    from ...nbgrader.gradebook.report_store import earlier_reports

    reports = _reports(course, chosen, files or [])
    summaries = []
    for w in course.weeks:
        if w.name in reports:
            foreign = {} if files else last_collection(course, w).foreign
            misconceptions = Bank(course, w).misconceptions
            summaries.append(summary := summarize(w, reports[w.name], foreign, misconceptions))
            if not files:
                before = {s.name: earlier_reports(course, w, s.name) for s in summary.graded}
                summary.earlier = {name: earlier for name, earlier in before.items() if earlier}
    if chosen is None:
        page = course_page(course, summaries, names=names)
    else:
        pairs = _similarity(course, chosen, names=names) if similarity else None
        page = week_page(course, summaries[0], names=names, similarity=pairs)
    path = out or Path(f"report-{chosen.name if chosen else course.id}.html")
    write_output(path, page.encode())
    for summary in summaries:
        print(
            f"{summary.week}: {len(summary.graded)} graded, {len(summary.refused)} refused, "
            f"mean {summary.mean:.0%}, median {summary.median:.0%}"
        )
        if summary.attempts:
            who = f": {', '.join(map(visible, summary.attempts))}" if names else ""
            count = plural(len(summary.attempts), "submission")
            tried = "possible attempts to get around the grading"
            print(f"ATTEMPT  {summary.week}: {tried} in {count}{who}")
        if summary.foreign:
            print(f"LOOK  {summary.week}: {len(summary.foreign)} submitted by a different user")
    print(f"wrote {path}")
    return not any(summary.foreign for summary in summaries)


def _similarity(course: Course, week: Week, *, names: bool) -> Similarity:
    """Compare the week's modules, print the number of similar pairs, and return the result."""
    from ...similarity import compare_collected

    with Terminal(stderr=True).status(f"comparing the modules of {week.name}"):
        found = compare_collected(course, week)
    outliers = plural(len(found.outliers), "suspicious pair")
    print(f"{week.name}: {len(found.fingerprints)} modules compared, {outliers} (see the page)")
    for students in found.identical:
        who = f": {', '.join(students)}" if names else ""
        print(f"LOOK  {week.name}: {len(students)} modules are identical, byte for byte{who}")
    print("Similarity is a reason to look at the code, not a proof of copying.")
    for student, why in found.left_out.items() if names else ():
        print(f"{student}: not compared, {why}")
    if not names and found.left_out:
        print(f"{len(found.left_out)} modules contain nothing to compare")
    return found


def _reports(course: Course, week: Week | None, files: Sequence[Path]) -> dict[str, Report]:
    from ...classreport.page import read_reports, recorded_report

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
            f"{where} no results for {about}: run `autograder grade` on a week first, or pass a "
            "JSON report with --from"
        )
    return found
