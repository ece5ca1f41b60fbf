"""`autograder grade`: grade submissions, show the scores, record them."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
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

from ...batch.cluster import Cluster
from ...batch.grade import grade_batch
from ...batch.intake import Submission, Unread, read_submission
from ...model.course import Course, Week
from ...model.device_axes import axis
from ...model.errors import KitError
from ...model.report.schema import Report, to_json
from ...model.report.verdicts import Ending
from ...model.visible import visible
from ...nbgrader.gradebook.report_store import About
from ...terminal.console import bar, terminal
from ..output import borderless_table, write_output


@dataclass(frozen=True)
class Grading:
    """Settings of a grading run: processes, device, sandbox, and an optional cluster."""

    jobs: int | None = None
    device: str = "auto"
    sandbox: str = "auto"
    cluster: Cluster | None = None

    def run(
        self,
        course: Course,
        week: Week,
        submissions: Sequence[Submission],
    ) -> Report:
        """Grade submissions with a progress bar on standard error."""
        columns = TextColumn(week.name), BarColumn(), MofNCompleteColumn()
        with bar(*columns, TimeElapsedColumn(), TimeRemainingColumn()) as progress:
            task = progress.add_task("", total=len(submissions))
            return grade_batch(
                course,
                week,
                submissions,
                devices=axis(self.device, here=self.cluster is None),
                jobs=self.jobs,
                sandbox=self.sandbox,
                cluster=self.cluster,
                on_done=lambda _: progress.advance(task),
                say=lambda line: progress.console.print(line, highlight=False),
            )


def run_grade(
    course: Course,
    week: Week,
    paths: Sequence[Path] | None,
    grading: Grading,
    *,
    json_file: Path | None = None,
    refused: bool = False,
) -> bool:
    """Grade the paths, or the collected submissions; return whether all were graded and recorded.

    Collected submissions are recorded, but if most were refused only with `refused`.
    """
    console = terminal(stderr=str(json_file) == "-")
    if grading.sandbox == "none":
        console.print(
            "WARNING: --sandbox none runs submissions in this process, with your rights. "
            "Use it only for your own code.",
            style="bold red",
        )
    if paths:
        report = grading.run(course, week, _read_paths(course, week, paths))
        _show(console, json_file, report)
        return _all_graded(report)
    from ...nbgrader.autograde.recorder import record, require_released
    from ...nbgrader.collect.submissions import collected
    from ...nbgrader.gradebook.due_dates import unknown_extensions
    from ...nbgrader.release.archive import grade_by_release

    if not collected(course, week):
        raise KitError(
            f"nothing was collected for {week.name}: run `autograder collect {week.name}`, or name "
            "submissions on the command line"
        )
    require_released(course, week)
    abouts: dict[str, About] = {}
    report, lines = grade_by_release(course, week, grading.run, abouts)
    _show(console, json_file, report)
    for line in lines:
        console.print(line, markup=False, soft_wrap=True)
    if not refused:
        _stop_if_most_are_refused(report)
    recording = record(course, week, report, abouts=abouts)
    unknown = unknown_extensions(course, week)
    for line in [*recording.lines(), *(f"LOOK  {line}" for line in unknown)]:
        console.print(line, soft_wrap=True)
    return _all_graded(report) and not (recording.left_out or unknown)


def _all_graded(report: Report) -> bool:
    return all(s.verdict is Ending.GRADED for s in report.submissions)


def _stop_if_most_are_refused(report: Report) -> None:
    """Raise KitError: a wrong file name or upload form is probably not the students' mistake."""
    reasons = Counter(
        s.reason.split(". ")[0] for s in report.submissions if s.verdict is Ending.REFUSED
    )
    total, refused = len(report.submissions), reasons.total()
    if 2 * refused <= total:
        return
    reason, times = reasons.most_common(1)[0]
    share = "each" if times == refused else f"{times} of them"
    raise KitError(
        f"{refused} of {total} submissions were refused, {share} with {reason.rstrip('.')!r}: "
        "nothing was recorded. Check that course.yaml and the students use the same file names; if "
        f"they do, `autograder grade {report.week} --refused` records it"
    )


def _read_paths(course: Course, week: Week, paths: Sequence[Path]) -> Sequence[Submission]:
    missing = [p for p in paths if not p.exists() and not p.is_symlink()]
    if missing:
        raise KitError(f"there is no {missing[0]}")
    names = [p.name.removesuffix(".zip").removesuffix(".py") or p.resolve().name for p in paths]
    if len(set(names)) < len(names):  # module files in folders of different students
        names = [str(p).removesuffix(".zip") for p in paths]
    limits = course.limits(week)
    named = zip(paths, names, strict=True)
    return Unread(partial(read_submission, p, week, limits, n) for p, n in named)


def _show(console: Console, json_file: Path | None, report: Report) -> None:
    if json_file is not None:
        _write_json(json_file, report)
    print_scores(console, report)


def _write_json(path: Path, report: Report) -> None:
    data = to_json(report) + b"\n"
    if str(path) == "-":
        sys.stdout.buffer.write(data)
        sys.stdout.flush()
    elif path.exists() and not path.is_file():  # a pipe or a terminal
        try:
            path.write_bytes(data)
        except OSError as error:
            raise KitError(f"{path} cannot be written: {error.strerror}") from None
    else:
        umask = os.umask(0o077)
        os.umask(umask)
        write_output(path, data, 0o666 & ~umask)


def print_scores(console: Console, report: Report) -> None:
    """Print a line per submission: its score, and the misconceptions or errors found."""
    table = borderless_table("submission", ">score", "what stands out")
    for submission in report.submissions:
        notes = [submission.reason] if submission.message else []
        graded = submission.verdict is Ending.GRADED
        for exercise in submission.exercises:
            if exercise.diagnosis:
                notes.append(f"{exercise.name}: {', '.join(exercise.diagnosis)}")
            elif exercise.score < exercise.max_score and graded:
                worst = next((t.verdict for t in exercise.tests if t.verdict.reported), "")
                notes.append(f"{exercise.name}: {worst}")
        score = f"{submission.score:g}/{submission.max_score:g}" if graded else submission.verdict
        # `visible` also replaces line breaks in a name
        table.add_row(visible(submission.name), score, "; ".join(notes))
    console.print(table)
    for submission in report.submissions:
        name = visible(submission.name)
        lines = []
        if submission.attempts:
            tried = visible(", ".join(submission.attempts))
            lines.append(
                f"ATTEMPT  {name} looks like an attempt to get around the grading: {tried}"
            )
        for failed in submission.unexplained:
            lines.append(
                f"UNEXPLAINED  {name}: the scores are complete, but a later step of the grading "
                f"system failed: {visible(failed)}"
            )
        for line in lines:
            console.print(line, markup=False, soft_wrap=True)
    console.print(
        f"{len(report.submissions)} submissions, {report.week}, "
        f"devices {', '.join(report.devices)}, sandbox {report.sandbox}"
    )
    if faults := sum(s.verdict is Ending.GRADER_FAULT for s in report.submissions):
        console.print(
            f"{faults} could not be graded because of a system error, and got no score. Run the "
            "command again; `autograder doctor` helps to find the cause.",
            style="bold",
        )
