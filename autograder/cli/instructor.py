"""Commands of an instructor."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..model.device_axes import CHOICES_IN_WORDS
from ..model.errors import KitError
from .app import INSTRUCTORS, WeekArgument, app


@app.command(rich_help_panel=INSTRUCTORS)
def doctor() -> None:
    """Say what this machine can do: sandbox, devices, nbgrader; and how to mend what is missing.

    Example: autograder doctor
    """
    from .show.author.doctor_report import run_doctor

    if not run_doctor():
        raise typer.Exit(1)


@app.command(rich_help_panel=INSTRUCTORS)
def release(
    week: WeekArgument,
    early: Annotated[bool, typer.Option("--early", help="Before the week's release date.")] = False,
    again: Annotated[
        bool,
        typer.Option("--again", help="Release a corrected week beside the one students have."),
    ] = False,
    solutions: Annotated[
        bool,
        typer.Option("--solutions", help="Release its solutions, after the last extension."),
    ] = False,
    unproven: Annotated[
        bool, typer.Option("--unproven", help="Even if graders or public checks have gaps.")
    ] = False,
) -> None:
    """Give a week to the students: prove it, check that nothing secret leaves, hand it to nbgrader.

    What `verify` proved before and has not changed is not proven again.

    Example: autograder release week01 --early
    """
    from ..model.course.loader import load

    course = load()
    from .show.instructor.nbgrader_steps import run_release, run_release_solutions

    if solutions and (early or again):
        raise KitError(
            "--solutions goes alone: they are released once nobody can use them any more"
        )
    chosen = course.week(week)
    if solutions:
        run_release_solutions(course, chosen)
    elif not run_release(course, chosen, early=early, again=again, unproven=unproven):
        raise typer.Exit(1)


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
        typer.Option(help="With --git: an address or a folder with {username} in it."),
    ] = None,
    newest: Annotated[
        bool, typer.Option("--newest", help="With --git: the newest commit, not the due date's.")
    ] = False,
) -> None:
    """Collect what was handed in for a week; say who is missing and what is odd.

    Example: autograder collect week01 --zip submissions.zip --roster grades.csv
    Example: autograder collect week01 --git students.csv --repositories 'clones/week01-{username}'
    """
    from ..model.course.loader import load

    course = load()
    if (repositories or newest) and git is None:
        raise KitError("--repositories and --newest go with --git ROSTER")
    if git is not None:
        from .show.instructor.exports import run_collect_git

        if not run_collect_git(course, course.week(week), git, repositories, newest=newest):
            raise typer.Exit(1)
        return
    if bulk is not None:
        from .show.instructor.lms_files import run_collect_bulk

        if not run_collect_bulk(course, course.week(week), bulk, roster):
            raise typer.Exit(1)
        return
    from .show.instructor.nbgrader_steps import run_collect

    if not run_collect(course, course.week(week)):
        raise typer.Exit(1)


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
    jobs: Annotated[
        int | None, typer.Option(min=1, help="Processes; default: one per core.")
    ] = None,
    device: Annotated[str, typer.Option(help=f"{CHOICES_IN_WORDS}.")] = "auto",
    sandbox: Annotated[
        str,
        typer.Option(
            help="auto, bubblewrap, landlock, chroot; none runs code unprotected: your own only"
        ),
    ] = "auto",
    cluster: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS", help="A Dask scheduler: tcp://host:8786 or tls://host:8786"
        ),
    ] = None,
    tls_ca: Annotated[str | None, typer.Option(help="With tls://: the authority, PEM.")] = None,
    tls_cert: Annotated[str | None, typer.Option(help="With tls://: your certificate.")] = None,
    tls_key: Annotated[str | None, typer.Option(help="With tls://: its key.")] = None,
    insecure: Annotated[
        bool, typer.Option("--insecure", help="No warning about a tcp:// scheduler elsewhere.")
    ] = False,
    refused: Annotated[
        bool, typer.Option("--refused", help="Record a class even if most were refused.")
    ] = False,
) -> None:
    """Grade a week's submissions in the sandbox, and record them if they were collected.

    Exit code 0 if all were graded, and recorded; 1 if some were refused or could not be;
    2 if nothing was graded.

    Example: autograder grade week01 handed-in/*.zip --json report.json
    Example: autograder grade week01 --cluster tcp://scheduler:8786
    """
    from ..batch.cluster import cluster_at, plaintext_warning
    from ..model.course.loader import load

    if cluster is None and (tls_ca or tls_cert or tls_key):
        raise KitError("--tls-ca, --tls-cert and --tls-key go with --cluster tls://host:8786")
    if cluster is not None and jobs is not None:
        raise KitError("--jobs is for this machine; on a cluster each worker grades one at a time")
    place = cluster_at(cluster, tls_ca, tls_cert, tls_key) if cluster is not None else None
    if place is not None and not insecure and plaintext_warning(place):
        typer.echo(plaintext_warning(place), err=True)

    course = load()
    from .show.instructor.grading import run_grade

    fine = run_grade(
        course,
        course.week(week),
        paths,
        json_file=json_file,
        jobs=jobs,
        device=device,
        sandbox=sandbox,
        cluster=place,
        refused=refused,
    )
    if not fine:
        raise typer.Exit(1)


@app.command(rich_help_panel=INSTRUCTORS)
def feedback(
    week: WeekArgument,
    students: Annotated[
        list[str] | None, typer.Option("--student", help="Only for this student; may be repeated.")
    ] = None,
    unmarked: Annotated[
        bool, typer.Option("--unmarked", help="Even if written answers wait to be marked.")
    ] = False,
) -> None:
    """Write everybody's feedback for a graded week, and release it through nbgrader.

    Example: autograder feedback week01 --student ada
    """
    from ..model.course.loader import load

    course = load()
    from .show.instructor.nbgrader_steps import run_feedback

    if not run_feedback(course, course.week(week), students or [], unmarked=unmarked):
        raise typer.Exit(1)


@app.command(rich_help_panel=INSTRUCTORS)
def report(
    week: Annotated[
        str | None, typer.Argument(help="A week: its name, or its number; default: the course.")
    ] = None,
    files: Annotated[
        list[Path] | None,
        typer.Option("--from", help="A report of `grade --json`; default: what was recorded."),
    ] = None,
    names: Annotated[bool, typer.Option("--names", help="Name the students.")] = False,
    similarity: Annotated[
        bool, typer.Option("--similarity", help="Show which collected modules are oddly alike.")
    ] = False,
    out: Annotated[
        Path | None, typer.Option(help="The page; default: report-WEEK.html, here.")
    ] = None,
) -> None:
    """Write the class report of a week, or of the course: one HTML page for the instructor.

    Example: autograder report week01 --similarity --names
    """
    from ..model.course.loader import load

    course = load()
    chosen = course.week(week) if week else None
    from .show.instructor.class_report import run_report

    if not run_report(course, chosen, files or [], names=names, out=out, alike=similarity):
        raise typer.Exit(1)


@app.command(rich_help_panel=INSTRUCTORS)
def export(
    week: Annotated[str, typer.Argument(help="A week: its name, or its number; or all.")],
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
    unmarked: Annotated[
        bool, typer.Option("--unmarked", help="Even if written answers wait to be marked.")
    ] = False,
    missing: Annotated[
        str, typer.Option(help="For work that was due and not handed in: blank or 0.")
    ] = "blank",
) -> None:
    """Export grades, or a week for another system to grade.

    Exit code 1 if somebody's grade matches nobody on the class list.

    Example: autograder export week01 --format canvas --roster grades.csv --out upload.csv
    Example: autograder export week01 --gradescope --visibility after_published
    Example: autograder export week01 --github --out week01
    """
    from ..model.course.loader import load

    course = load()
    if gradescope:
        from .show.instructor.exports import run_gradescope

        run_gradescope(course, course.week(week), out, visibility, feedback_as)
        return
    if github:
        from .show.instructor.exports import run_github

        run_github(course, course.week(week), out)
        return
    weeks = list(course.weeks) if week == "all" else [course.week(week)]
    from .show.instructor.lms_files import run_export

    if not run_export(course, weeks, form, roster, out, unmarked=unmarked, missing=missing):
        raise typer.Exit(1)


@app.command(rich_help_panel=INSTRUCTORS)
def roster(
    file: Annotated[Path, typer.Argument(help="A CSV of Canvas, Moodle, or your own.")],
) -> None:
    """Take the students of a class list into nbgrader's gradebook.

    Example: autograder roster grades.csv
    """
    from ..model.course.loader import load

    course = load()
    from .show.instructor.lms_files import run_roster

    run_roster(course, file)


@app.command(rich_help_panel=INSTRUCTORS)
def demo() -> None:
    """Play a whole course week on a sample class of twelve, with real nbgrader, in demo/.

    Example: autograder demo
    """
    from ..model.course.loader import load

    course = load()
    from .show.instructor.nbgrader_steps import run_demo

    if not run_demo(course):
        raise typer.Exit(1)
