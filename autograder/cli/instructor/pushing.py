"""`push`, `site` and `teach`: write grades to a platform, and build pages and lecture files."""

import datetime as dt
from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from ...model.course import load
from ...model.errors import KitError
from ...model.message_text import plural
from ...terminal.console import Terminal
from ..app import flag
from ..options import UnmarkedOption, WeekArgument, find_week
from ..output import counted, counting, print_attention, write_output


def push(
    week: WeekArgument,
    canvas: Annotated[bool, flag("canvas", "Push to Canvas through its API.")] = False,
    lti: Annotated[bool, flag("lti", "Push to a platform with LTI 1.3 grade services.")] = False,
    dry_run: Annotated[bool, flag("dry-run", "Only show the changes.")] = False,
    comments: Annotated[bool, Option(help="Add the feedback as a comment.")] = True,
    overwrite: Annotated[
        bool, flag("overwrite", "Overwrite grades that were entered on the platform.")
    ] = False,
    unmarked: UnmarkedOption = False,
) -> bool:
    """Write a week's grades to a learning platform; after an error, run the command again.

    The secret is read from the environment (CANVAS_TOKEN, LTI_KEY) or from a file with mode 600.

    Example: autograder push week01 --canvas --dry-run
    """
    course, chosen = find_week(week)
    if canvas + lti != 1:
        raise KitError("use either --canvas or --lti")
    from ...channels.canvas import canvas_assignment
    from ...channels.lti import lti_line_item
    from ...channels.push import Platform, carry_out_push, comments_of, plan_push
    from ...nbgrader.gradebook.final_scores import final_scores, require_marked
    from ...pages.environment import points as as_points

    scores = {s: final.points for s, final in final_scores(course, chosen).items()}
    if not scores:
        raise KitError(f"{chosen.name} has no grades: run `autograder grade {chosen.name}` first")
    if not unmarked:
        require_marked(course, [chosen], scores)
    platform: Platform = (
        canvas_assignment(course, chosen)
        if canvas
        else lti_line_item(course, chosen, create=not dry_run)
    )
    texts = comments_of(course, chosen, scores) if comments else {}
    push = plan_push(course, chosen, platform, scores, texts, overwrite=overwrite)
    to_write, same = push.of("write"), len(push.of("same"))
    if dry_run:
        for grade in to_write:
            before = "none" if grade.before is None else as_points(grade.before)
            new, comment = as_points(grade.points), ", with a comment" if grade.comment else ""
            print(f"would write  {grade.student}: {new} (on the platform: {before}){comment}")
        print(f"{len(to_write)} would be written, {same} are up to date")
    else:
        with counting("pushing", len(to_write)) as advance:
            carry_out_push(course, chosen, platform, push, advance)
        print(f"{len(push.written)} written, {same} were up to date")
    attention = [
        f"{grade.student}: the grade on the platform was changed to "
        f"{as_points(grade.before or 0.0)}; here it is {as_points(grade.points)}: to replace it, "
        "use --overwrite"
        for grade in push.of("changed there")
    ]
    for why in dict.fromkeys(push.failed.values()):
        students = [s for s, reason in push.failed.items() if reason == why]
        attention.append(f"not written: {counted(students)}: {why}")
    strangers = [f"{s} is not a student of the course on the platform" for s in push.unmatched]
    matched = print_attention(strangers, "UNMATCHED")
    fine = print_attention([*attention, *push.notes])
    if push.failed:
        print(f"run `autograder push {chosen.name} --{platform.name}` again to continue")
    return matched and fine


def site(
    out: Annotated[Path | None, Option(help="The site's folder; default: build/students.")] = None,
    at: Annotated[
        str | None,
        Option(
            metavar="DATE",
            help="Preview the site on a date such as 2027-02-01; default folder: build/preview.",
        ),
    ] = None,
) -> None:
    """Build the students' website, with a page for each released week.

    Example: autograder site --out build/students
    """
    from ...site.build import build_site

    course = load()
    folder = out or Path("build/preview" if at else "build/students")
    try:
        now = course.localized(dt.datetime.fromisoformat(at)) if at else dt.datetime.now(dt.UTC)
    except ValueError:
        raise KitError(f"--at {at!r} is not a date such as 2027-02-01") from None
    with Terminal(stderr=True).status("building the site") as status:
        built = build_site(course, folder, now=now, on_week=lambda w: status.update(f"running {w}"))
    print(f"{built.folder / 'index.html'}: {plural(len(built.weeks), 'week')}")
    if built.waiting:
        print(f"not included, because not released yet: {', '.join(built.waiting)}")


def teach(
    weeks: Annotated[list[str] | None, Argument(help="Weeks; default: all.")] = None,
    out: Annotated[Path, Option(help="The folder for the files.")] = Path("build/teaching"),
    question: Annotated[
        list[str] | None,
        Option(metavar="NAME", help="An exam question; default: all. Can be repeated."),
    ] = None,
) -> bool:
    """Write slides, lecture notes, and an exam as a page and a notebook, and print them to PDF.

    exam/answers.html, with model answers and rubrics, is for markers only.

    Example: autograder teach week01 week02 --out build/teaching
    """
    from ...site.teaching import exam_files, lecture_files, print_to_pdf

    course = load()
    chosen = [course.week(name) for name in weeks] if weeks else course.weeks
    with Terminal(stderr=True).status("building the files"):
        exam = exam_files(course, chosen, question or ())
        files = lecture_files(course, chosen) | exam
        for name, text in files.items():
            (out / name).parent.mkdir(parents=True, exist_ok=True)
            write_output(out / name, text.encode(), 0o600 if name in exam else 0o644)
        problem = print_to_pdf([out / name for name in files if name.endswith(".html")])
    print("\n".join(str(out / name) for name in files))
    for part, source in (("slides", "exercises/<week>/slides"), ("exam", "solutions/exam/<week>")):
        if not any(name.startswith(f"{part}/") for name in files):
            print(f"no {part}: write {source}.md")
    return print_attention([problem] if problem else [])
