"""`grade` and `feedback`: grade submissions, record scores, and release feedback."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from ...model.availability import axis
from ...model.course import Course, Week
from ...model.errors import KitError
from ...model.message_text import did_you_mean, plural, visible
from ...model.report.schema import Ending, Report, to_json
from ...terminal.console import Terminal
from .. import options
from ..app import flag
from ..output import counting, new_table, print_attention, write_output

if TYPE_CHECKING:
    from ...batch.cluster import Cluster
    from ...batch.intake import Submission


def grade(
    week: options.WeekArgument,
    paths: Annotated[
        list[Path] | None,
        Argument(help="Folders, module files or zips; default: the collected submissions."),
    ] = None,
    json_file: Annotated[
        Path | None, Option("--json", help="Write the report to this file; -: standard output.")
    ] = None,
    jobs: options.JobsOption = None,
    device: options.DeviceOption = "auto",
    sandbox: Annotated[
        str,
        Option(help="auto, bubblewrap, landlock, chroot, or none: unprotected, for your own code."),
    ] = "auto",
    cluster: options.ClusterOption = None,
    tls_ca: options.TlsCaOption = None,
    tls_cert: options.TlsCertOption = None,
    tls_key: options.TlsKeyOption = None,
    insecure: Annotated[
        bool, flag("insecure", "Do not warn about an unencrypted remote scheduler (tcp://).")
    ] = False,
    refused: Annotated[
        bool, flag("refused", "Record the class even if most submissions were refused.")
    ] = False,
) -> bool:
    """Grade a week's submissions in the sandbox; record the scores of collected submissions.

    Exit code 0 if all were graded and recorded, 1 if some were refused or could not be graded,
    2 if nothing was graded.

    Example: autograder grade week01 submissions/*.zip --json report.json
    Example: autograder grade week01 --cluster tcp://scheduler:8786
    """
    place = options.cluster_option(cluster, tls_ca, tls_cert, tls_key, jobs)
    if place is not None and not insecure:
        from ...batch.cluster import plaintext_warning

        if warning := plaintext_warning(place):
            typer.echo(warning, err=True)
    course, chosen = options.find_week(week)
    console = Terminal(stderr=str(json_file) == "-")
    if sandbox == "none":
        console.print(
            "WARNING: --sandbox none runs submissions in this process, with your permissions. Use "
            "it only for your own code.",
            style="bold red",
        )
    run = partial(run_batch, jobs=jobs, device=device, sandbox=sandbox, cluster=place)

    def show(report: Report) -> None:
        if json_file is not None:
            _write_json(json_file, report)
        print_scores(console, report)

    if paths:
        report = run(course, chosen, _read_paths(course, chosen, paths))
        show(report)
        return _all_graded(report)
    from ...nbgrader.autograde.recorder import record, require_released
    from ...nbgrader.collect.groups import unknown_students
    from ...nbgrader.collect.submissions import collected
    from ...nbgrader.release.archive import grade_by_release

    if not collected(course, chosen):
        raise KitError(
            f"nothing was collected for {chosen.name}: run `autograder collect {chosen.name}`, or "
            "pass the paths of submissions"
        )
    require_released(course, chosen)
    report, abouts, lines = grade_by_release(course, chosen, run)
    show(report)
    for line in lines:
        console.print(line, soft_wrap=True)
    if not refused:
        _stop_if_most_are_refused(report)
    recording = record(course, chosen, report, abouts=abouts)
    unknown = unknown_students(course, chosen)
    for line in [*recording.lines(), *(f"LOOK  {line}" for line in unknown)]:
        console.print(line, soft_wrap=True)
    return _all_graded(report) and not (recording.left_out or unknown)


def run_batch(
    course: Course,
    week: Week,
    submissions: Sequence[Submission],
    *,
    jobs: int | None = None,
    device: str = "auto",
    sandbox: str = "auto",
    cluster: Cluster | None = None,
) -> Report:
    """Grade submissions and show a progress bar on standard error."""
    from ...batch.grade import grade_batch

    with counting(week.name, len(submissions)) as advance:
        return grade_batch(
            course,
            week,
            submissions,
            devices=axis(device, here=cluster is None),
            jobs=jobs,
            sandbox=sandbox,
            cluster=cluster,
            on_done=lambda report: advance(),
            notify=lambda line: print(line, file=sys.stderr),
        )


def _all_graded(report: Report) -> bool:
    return all(s.verdict is Ending.GRADED for s in report.submissions)


def _stop_if_most_are_refused(report: Report) -> None:
    """Raise KitError if most submissions were refused, which suggests a wrong file name."""
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
        f"they do, record the results with `autograder grade {report.week} --refused`"
    )


def _read_paths(course: Course, week: Week, paths: Sequence[Path]) -> Sequence[Submission]:
    from ...batch.intake import Unread, read_submission

    missing = [p for p in paths if not p.exists() and not p.is_symlink()]
    if missing:
        raise KitError(f"there is no {missing[0]}")
    names = [p.name.removesuffix(".zip").removesuffix(".py") or p.resolve().name for p in paths]
    if len(set(names)) < len(names):  # for example, ada/softmax.py and bob/softmax.py
        names = [str(p).removesuffix(".zip") for p in paths]
    limits = course.limits(week)
    named = zip(paths, names, strict=True)
    return Unread(partial(read_submission, p, week, limits, n) for p, n in named)


def _write_json(path: Path, report: Report) -> None:
    data = to_json(report) + b"\n"
    if str(path) == "-":
        sys.stdout.buffer.write(data)
        sys.stdout.flush()
    else:
        umask = os.umask(0o077)
        os.umask(umask)
        write_output(path, data, 0o666 & ~umask)


def print_scores(console: Terminal, report: Report) -> None:
    """Print the score of each submission, and the misconceptions or errors found in it."""
    table, problems = new_table("submission", ">score", "what stands out"), []
    for submission in report.submissions:
        name = visible(submission.name)  # also escapes line breaks
        notes = [submission.reason] if submission.message else []
        alike: dict[str, list[str]] = {}  # what stands out -> exercises
        graded = submission.verdict is Ending.GRADED
        for exercise in submission.exercises:
            if exercise.diagnosis:
                named = ", ".join(map(_readable, exercise.diagnosis))
                alike.setdefault(named, []).append(exercise.name)
            elif exercise.score < exercise.max_score and graded:
                worst = next((t.verdict for t in exercise.tests if t.verdict.reported), "")
                alike.setdefault(_readable(worst), []).append(exercise.name)
        notes += [
            f"{names[0] if len(names) == 1 else f'{len(names)} exercises'}: {what}"
            for what, names in alike.items()
        ]
        score = f"{submission.score:g}/{submission.max_score:g}" if graded else submission.verdict
        table.add_row(name, score, "; ".join(notes))
        if tried := visible(", ".join(submission.attempts)):
            looks = "looks like an attempt to get around the grading"
            problems.append(f"ATTEMPT  {name} {looks}: {tried}")
        problems += [
            f"UNEXPLAINED  {name}: the scores are complete, but a later step of the grading system "
            f"failed: {visible(failed)}"
            for failed in submission.unexplained
        ]
    console.print(table)
    for line in problems:
        console.print(line, soft_wrap=True)
    console.print(
        f"{plural(len(report.submissions), 'submission')}, {report.week}, "
        f"devices {', '.join(report.devices)}, sandbox {report.sandbox}"
    )
    if faults := sum(s.verdict is Ending.GRADER_FAULT for s in report.submissions):
        console.print(
            f"{faults} could not be graded because of a system error and have no score. Run the "
            "command again; if the error persists, `autograder doctor` helps to find the cause.",
            style="bold",
        )


def _readable(diagnosis: str) -> str:
    """Return a diagnosis (`shows:number type`, `inverted_mask`) or a verdict in words."""
    return diagnosis.rpartition(":")[2].replace("_", " ")


def feedback(
    week: options.WeekArgument,
    students: Annotated[
        list[str] | None, Option("--student", help="Only this student; may be repeated.")
    ] = None,
    unmarked: options.UnmarkedOption = False,
) -> bool:
    """Write the feedback for a graded week, and release it through nbgrader.

    Example: autograder feedback week01 --student ada
    """
    course, chosen = options.find_week(week)
    from ...nbgrader.collect.groups import unknown_students
    from ...nbgrader.gradebook.final_scores import require_marked
    from ...nbgrader.publish_feedback import return_feedback
    from ...nbgrader.workspace import Workspace

    graded = Workspace(course).students("autograded", chosen)
    if unknown := [s for s in students or () if s not in graded]:
        raise KitError(
            f"{unknown[0]} was not graded in {chosen.name}{did_you_mean(unknown[0], graded)}"
        )
    wanted = sorted(set(students or graded))
    if not unmarked:
        require_marked(course, [chosen], wanted)
    with counting("feedback", len(wanted)) as advance:
        result = return_feedback(course, chosen, on_done=advance, students=wanted)
    print(f"released feedback to {len(result.students)} of {len(wanted)}")
    for note in result.notes:
        print(note)
    known = print_attention(unknown_students(course, chosen))
    return len(result.students) == len(wanted) and known
