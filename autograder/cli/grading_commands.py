"""Commands for instructors, from `release` over `collect` and `grade` to `report` and `export`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..model.device_axes import CHOICES_IN_WORDS
from ..model.errors import KitError
from .app import (
    INSTRUCTORS,
    ClusterOption,
    JobsOption,
    TlsCaOption,
    TlsCertOption,
    TlsKeyOption,
    UnmarkedOption,
    WeekArgument,
    app,
    find_week,
)


@app.command(rich_help_panel=INSTRUCTORS)
def doctor() -> bool:
    """Report whether sandbox, devices and nbgrader work here, and how to fix problems.

    Example: autograder doctor
    """
    from .author.doctor_report import run_doctor

    return run_doctor()


@app.command(rich_help_panel=INSTRUCTORS)
def release(
    week: WeekArgument,
    early: Annotated[
        bool, typer.Option("--early", help="Release before the week's release date.")
    ] = False,
    again: Annotated[
        bool,
        typer.Option("--again", help="Release a corrected week next to the one students have."),
    ] = False,
    solutions: Annotated[
        bool,
        typer.Option("--solutions", help="Release its solutions, after the last extension."),
    ] = False,
    unproven: Annotated[
        bool, typer.Option("--unproven", help="Even if graders or public checks have gaps.")
    ] = False,
) -> bool:
    """Release a week to the students: verify it, check for leaks, and hand it to nbgrader.

    Parts that `verify` has checked and that have not changed are not verified again.

    Example: autograder release week01 --early
    """
    course, chosen = find_week(week)
    from .instructor.releasing import run_release, run_release_solutions

    if not solutions:
        return run_release(course, chosen, early=early, again=again, unproven=unproven)
    if early or again:
        raise KitError(
            "--solutions cannot be combined with --early or --again: solutions are released when "
            "nobody can use them any more"
        )
    run_release_solutions(course, chosen)
    return True


@app.command(rich_help_panel=INSTRUCTORS)
def collect(
    week: WeekArgument,
    bulk: Annotated[
        Path | None, typer.Option("--zip", help="A bulk download of Canvas, Moodle, Gradescope.")
    ] = None,
    roster: Annotated[
        Path | None, typer.Option(help="With --zip: the class list, a CSV of the same system.")
    ] = None,
    git: Annotated[
        Path | None,
        typer.Option(metavar="ROSTER", help="From git: a CSV with `username` or `repository`."),
    ] = None,
    repositories: Annotated[
        str | None,
        typer.Option(help="With --git: an address or a folder that contains {username}."),
    ] = None,
    newest: Annotated[
        bool, typer.Option("--newest", help="With --git: the newest commit, not the due date's.")
    ] = False,
) -> bool:
    """Collect a week's submissions, and report who is missing and what needs attention.

    Example: autograder collect week01 --zip submissions.zip --roster grades.csv
    Example: autograder collect week01 --git students.csv --repositories 'clones/week01-{username}'
    """
    course, chosen = find_week(week)
    if (repositories or newest) and git is None:
        raise KitError("--repositories and --newest need --git ROSTER")
    from .instructor.collecting import run_collect, run_collect_bulk, run_collect_git

    if git is not None:
        return run_collect_git(course, chosen, git, repositories, newest=newest)
    if bulk is not None:
        return run_collect_bulk(course, chosen, bulk, roster)
    return run_collect(course, chosen)


@app.command(rich_help_panel=INSTRUCTORS)
def grade(
    week: WeekArgument,
    paths: Annotated[
        list[Path] | None,
        typer.Argument(
            help="Submissions: folders, module files or zips; default: the collected ones."
        ),
    ] = None,
    json_file: Annotated[
        Path | None, typer.Option("--json", help="Write the report here; - for standard output.")
    ] = None,
    jobs: JobsOption = None,
    device: Annotated[str, typer.Option(help=f"{CHOICES_IN_WORDS}.")] = "auto",
    sandbox: Annotated[
        str,
        typer.Option(
            help="auto, bubblewrap, landlock, chroot; none runs code unprotected: your own only"
        ),
    ] = "auto",
    cluster: ClusterOption = None,
    tls_ca: TlsCaOption = None,
    tls_cert: TlsCertOption = None,
    tls_key: TlsKeyOption = None,
    insecure: Annotated[
        bool, typer.Option("--insecure", help="Do not warn about a remote tcp:// scheduler.")
    ] = False,
    refused: Annotated[
        bool, typer.Option("--refused", help="Record the class even if most were refused.")
    ] = False,
) -> bool:
    """Grade a week's submissions in the sandbox, and record them if they were collected.

    Exit code 0 if all were graded and recorded, 1 if some were refused or could not be graded,
    2 if nothing was graded.

    Example: autograder grade week01 handed-in/*.zip --json report.json
    Example: autograder grade week01 --cluster tcp://scheduler:8786
    """
    from ..batch.cluster import cluster_at, plaintext_warning

    if cluster is None and (tls_ca or tls_cert or tls_key):
        raise KitError("--tls-ca, --tls-cert and --tls-key need --cluster tls://host:8786")
    if cluster is not None and jobs is not None:
        raise KitError("--jobs is for this machine; a cluster's workers grade one at a time each")
    place = cluster_at(cluster, tls_ca, tls_cert, tls_key) if cluster is not None else None
    if place is not None and not insecure and plaintext_warning(place):
        typer.echo(plaintext_warning(place), err=True)
    course, chosen = find_week(week)
    from .instructor.grading import Grading, run_grade

    grading = Grading(jobs, device, sandbox, place)
    return run_grade(course, chosen, paths, grading, json_file=json_file, refused=refused)


@app.command(rich_help_panel=INSTRUCTORS)
def feedback(
    week: WeekArgument,
    students: Annotated[
        list[str] | None, typer.Option("--student", help="Only for this student; may be repeated.")
    ] = None,
    unmarked: UnmarkedOption = False,
) -> bool:
    """Write the feedback for a graded week, and release it through nbgrader.

    Example: autograder feedback week01 --student ada
    """
    course, chosen = find_week(week)
    from .instructor.releasing import run_feedback

    return run_feedback(course, chosen, students or [], unmarked=unmarked)


@app.command(rich_help_panel=INSTRUCTORS)
def report(
    week: Annotated[
        str | None, typer.Argument(help="A week: its name or number; default: the course.")
    ] = None,
    files: Annotated[
        list[Path] | None,
        typer.Option("--from", help="A report of `grade --json`; default: the recorded results."),
    ] = None,
    names: Annotated[bool, typer.Option("--names", help="Name the students.")] = False,
    similarity: Annotated[
        bool, typer.Option("--similarity", help="Show which modules are suspiciously similar.")
    ] = False,
    out: Annotated[
        Path | None, typer.Option(help="The page; default: report-WEEK.html, here.")
    ] = None,
) -> bool:
    """Write the class report of a week, or of the course: one HTML page for the instructor.

    Example: autograder report week01 --similarity --names
    """
    from ..model.course import load

    course = load()
    chosen = course.week(week) if week else None
    from .instructor.class_report import run_report

    return run_report(course, chosen, files or [], names=names, out=out, alike=similarity)


@app.command(rich_help_panel=INSTRUCTORS)
def export(
    week: Annotated[str, typer.Argument(help="A week: its name or number; or all.")],
    form: Annotated[
        str, typer.Option("--format", help="csv, json, canvas, moodle or brightspace")
    ] = "csv",
    roster: Annotated[
        Path | None, typer.Option(help="The class list: a CSV of Canvas, of Moodle, or your own.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="The file or folder; default: standard output, or named by the week."),
    ] = None,
    gradescope: Annotated[
        bool, typer.Option("--gradescope", help="The autograder zip of a week for Gradescope.")
    ] = False,
    github: Annotated[
        bool,
        typer.Option("--github", help="A template repository for GitHub Classroom, Classroom 50."),
    ] = False,
    visibility: Annotated[
        str,
        typer.Option(
            help="With --gradescope, of scores and feedback: visible, after_due_date, "
            "after_published or hidden."
        ),
    ] = "after_due_date",
    feedback_as: Annotated[
        str, typer.Option("--feedback", help="With --gradescope: html or md.")
    ] = "html",
    unmarked: UnmarkedOption = False,
    missing: Annotated[
        str, typer.Option(help="For work that was due and not submitted: blank or 0.")
    ] = "blank",
) -> bool:
    """Export grades, or a week to be graded by another system.

    Exit code 1 if a student with a grade is not on the class list.

    Example: autograder export week01 --format canvas --roster grades.csv --out upload.csv
    Example: autograder export week01 --gradescope --visibility after_published
    Example: autograder export week01 --github --out week01
    """
    from ..model.course import load

    course = load()
    if gradescope or github:
        from .instructor.exporting import run_github, run_gradescope

        if gradescope:
            run_gradescope(course, course.week(week), out, visibility, feedback_as)
        else:
            run_github(course, course.week(week), out)
        return True
    weeks = list(course.weeks) if week == "all" else [course.week(week)]
    from .instructor.exporting import run_export

    return run_export(course, weeks, form, roster, out, unmarked=unmarked, missing=missing)


@app.command(rich_help_panel=INSTRUCTORS)
def roster(
    file: Annotated[Path, typer.Argument(help="A CSV of Canvas, Moodle, or your own.")],
) -> None:
    """Add the students of a class list to nbgrader's gradebook.

    Example: autograder roster grades.csv
    """
    from ..model.course import load

    course = load()
    from .instructor.exporting import run_roster

    run_roster(course, file)


@app.command(rich_help_panel=INSTRUCTORS)
def demo() -> bool:
    """Play a course week with a sample class of twelve and real nbgrader, in demo/.

    Example: autograder demo
    """
    from ..model.course import load

    course = load()
    from .instructor.demo_week import run_demo

    return run_demo(course)
