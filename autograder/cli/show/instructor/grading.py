"""`autograder grade` on a terminal."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table

from ....batch.cluster import Cluster
from ....batch.grade import Done, grade_batch
from ....batch.intake import Submission, Unread, read_submission
from ....files.atomic import replace_file
from ....model.course.loader import Course, Week
from ....model.device_axes import axis
from ....model.errors import KitError
from ....model.report.schema import Report, SubmissionReport, to_json
from ....model.report.verdicts import Ending
from ....model.visible import visible
from ....nbgrader.gradebook.report_store import About
from ....terminal.console import bar, terminal


def run_grade(
    course: Course,
    week: Week,
    paths: Sequence[Path] | None,
    *,
    json_file: Path | None,
    jobs: int | None,
    device: str,
    sandbox: str,
    cluster: Cluster | None = None,
    refused: bool = False,
) -> bool:
    """Grade, show the scores, write the report; return whether all were graded and recorded.

    Where most were refused nothing is recorded, unless `refused` says that this is right.
    """
    console = terminal(stderr=json_file is not None and str(json_file) == "-")
    if sandbox == "none":
        console.print(
            "WARNING: --sandbox none runs submissions in this process, with your rights. "
            "Use it for your own code only.",
            style="bold red",
        )
    submissions = _submissions(course, week, paths)

    def grade(
        of: Course, own: Week, some: Sequence[Submission], on_done: Done = _not_told
    ) -> Report:
        return grade_with_bar(
            of,
            own,
            some,
            jobs=jobs,
            device=device,
            sandbox=sandbox,
            cluster=cluster,
            on_done=on_done,
        )

    if paths:
        report = grade(course, week, submissions)
        _show(console, json_file, report)
        return _all_graded(report)
    from ....nbgrader.autograde.recorder import Recorder, WhileGraded
    from ....nbgrader.release.archive import grade_by_release
    from ....nbgrader.release.extensions import unknown_extensions

    abouts: dict[str, About] = {}
    with Recorder(course, week, abouts) as recorder:
        done = WhileGraded(recorder, len(submissions))
        report, said = grade_by_release(course, week, partial(grade, on_done=done), abouts)
        _show(console, json_file, report, said)
        if not refused:
            _stop_where_most_are_refused(report)
        for submission in report.submissions:
            recorder.enter(submission)
        recording = recorder.ended()
    strangers = unknown_extensions(course, week)
    for line in [*recording.lines(), *(f"LOOK  {line}" for line in strangers)]:
        console.print(line, soft_wrap=True)
    return _all_graded(report) and not (recording.left_out or strangers)


def _show(
    console: Console, json_file: Path | None, report: Report, said: Sequence[str] = ()
) -> None:
    if json_file is not None:
        _write(json_file, report)
    print_scores(console, report)
    for line in said:
        console.print(line, markup=False, soft_wrap=True)


def _all_graded(report: Report) -> bool:
    return all(s.verdict is Ending.GRADED for s in report.submissions)


def _not_told(report: SubmissionReport) -> None:
    """Nobody but the bar counts the reports."""


def _stop_where_most_are_refused(report: Report) -> None:
    """What refuses a class is no student's mistake: a wrong name, a wrong upload form."""
    why = Counter(
        s.reason.split(". ")[0] for s in report.submissions if s.verdict is Ending.REFUSED
    )
    total, refused = len(report.submissions), why.total()
    if 2 * refused <= total:
        return
    reason, times = why.most_common(1)[0]
    of_them = "each" if times == refused else f"{times} of them"
    raise KitError(
        f"{refused} of {total} submissions were refused, {of_them} with {reason.rstrip('.')!r}: "
        "nothing was recorded. See that course.yaml and the students mean the same files; if they "
        f"do, `autograder grade {report.week} --refused` records it"
    )


def _submissions(course: Course, week: Week, paths: Sequence[Path] | None) -> Sequence[Submission]:
    if not paths:
        from ....nbgrader.gradebook.transfer import collected

        found = collected(course, week)
        if not found:
            raise KitError(
                f"nothing was collected for {week.name}: run `autograder collect {week.name}`, "
                "or name submissions on the command line"
            )
        return found
    missing = [p for p in paths if not p.exists() and not p.is_symlink()]
    if missing:
        raise KitError(f"there is no {missing[0]}")
    limits = course.limits(week)
    names = _names(paths)
    named = zip(paths, names, strict=True)
    return Unread(partial(read_submission, p, week, limits, n) for p, n in named)


def _names(paths: Sequence[Path]) -> list[str]:
    """Each path's own name; a module file is named for its folder if names would clash."""
    names = [p.name.removesuffix(".zip").removesuffix(".py") or p.resolve().name for p in paths]
    if len(set(names)) < len(names):
        names = [str(p).removesuffix(".zip") for p in paths]
    return names


def grade_with_bar(
    course: Course,
    week: Week,
    submissions: Sequence[Submission],
    *,
    jobs: int | None = None,
    device: str = "auto",
    sandbox: str = "auto",
    cluster: Cluster | None = None,
    on_done: Done = _not_told,
) -> Report:
    """grade_batch behind a progress bar on standard error."""
    columns = (
        TextColumn(week.name),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with bar(*columns) as progress:
        task = progress.add_task("", total=len(submissions))

        def done(report: SubmissionReport) -> None:
            on_done(report)
            progress.advance(task)

        return grade_batch(
            course,
            week,
            submissions,
            devices=axis(device, here=cluster is None),
            jobs=jobs,
            sandbox=sandbox,
            cluster=cluster,
            on_done=done,
            say=lambda line: progress.console.print(line, highlight=False),
        )


def _write(path: Path, report: Report) -> None:
    data = to_json(report) + b"\n"
    if str(path) == "-":
        sys.stdout.buffer.write(data)
        sys.stdout.flush()
        return
    try:
        if path.exists() and not path.is_file():
            path.write_bytes(data)  # a pipe or a terminal
        else:
            umask = os.umask(0o077)
            os.umask(umask)
            replace_file(path, data, 0o666 & ~umask)
    except OSError as error:
        raise KitError(f"{path}: the report cannot be written: {error.strerror}") from None


def print_scores(console: Console, report: Report) -> None:
    """A line per submission: score, and what was diagnosed or went wrong."""
    table = Table(box=None, pad_edge=False)
    table.add_column("submission", overflow="fold")
    table.add_column("score", justify="right")
    table.add_column("what stands out", overflow="fold")
    for submission in report.submissions:
        notes = [submission.reason] if submission.message else []
        for exercise in submission.exercises:
            if exercise.diagnosis:
                notes.append(f"{exercise.name}: {', '.join(exercise.diagnosis)}")
            elif exercise.score < exercise.max_score and submission.verdict is Ending.GRADED:
                worst = next((t.verdict for t in exercise.tests if t.verdict.reported), "")
                notes.append(f"{exercise.name}: {worst}")
        score = f"{submission.score:g}/{submission.max_score:g}"
        shown = score if submission.verdict is Ending.GRADED else submission.verdict
        # a line break in a name would make a line of its own
        table.add_row(visible(submission.name), shown, "; ".join(notes))
    console.print(table)
    for submission in report.submissions:
        if submission.attempts:
            tried = visible(", ".join(submission.attempts))
            console.print(
                f"ATTEMPT  {visible(submission.name)} looks like an attempt to get around the "
                f"grading: {tried}",
                markup=False,
                soft_wrap=True,
            )
        for failed in submission.unexplained:
            console.print(
                f"UNEXPLAINED  {visible(submission.name)} is graded by its tests alone where the "
                f"grading system failed beyond them: {visible(failed)}",
                markup=False,
                soft_wrap=True,
            )
    faults = [s for s in report.submissions if s.verdict is Ending.GRADER_FAULT]
    console.print(
        f"{len(report.submissions)} submissions, {report.week}, "
        f"devices {', '.join(report.devices)}, sandbox {report.sandbox}"
    )
    if faults:
        console.print(
            f"{len(faults)} could not be graded through a fault of the grading system. No score "
            "was given. Run the command again; `autograder doctor` looks for the cause.",
            style="bold",
        )
