"""`new`: make a week, or an exercise in one, and print the next steps."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from ...model.course import Course, Week, load
from ...model.errors import CourseError
from ..app import author_command


@author_command
def new(
    week: Annotated[
        str, Argument(help="An existing week, or the name of a new one: week08_topic.")
    ],
    exercise: Annotated[
        str | None, Option(help="The exercise; default: the name of the topic.")
    ] = None,
    title: Annotated[
        str | None,
        Option("--course", help="Make a new course with this title in the current folder."),
    ] = None,
) -> None:
    """Make an exercise, in an existing week or a new one, with blanks to fill in.

    Example: autograder new week10_pooling --exercise mean_pool
    """
    from ...authoring.scaffolding import PLACEHOLDER, add_exercise, new_course, new_week

    course = None if title is not None else load(unfinished=True)
    root = Path.cwd() if course is None else course.root
    added, quick = f"{week} to", f"{week} --quick"
    if course is None:
        paths = new_course(root, str(title), week, exercise)
    elif (existing := _existing_week(course, week)) is None:
        paths = new_week(course, week, exercise)
    else:
        if exercise is None:
            raise CourseError(
                f"{existing.name} exists already; to add an exercise, use --exercise NAME"
            )
        paths = add_exercise(course, existing, exercise)
        added = f"{exercise} to {existing.name} in"
        quick = f"{existing.name} --quick --only {exercise}"
    for path in paths:
        print(f"wrote {path.relative_to(root)}")
    print(f"added {added} course.yaml: check its dates and points")
    print(f"Replace every {PLACEHOLDER}, then: autograder build && autograder verify {quick}")


def _existing_week(course: Course, name: str) -> Week | None:
    try:
        return course.week(name)
    except CourseError:
        return None
