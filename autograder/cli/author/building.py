"""`build`: generate the students' files from the solutions."""

from __future__ import annotations

from typing import Annotated

from typer import Option

from ...model.course import load
from ..app import author_command


@author_command
def build(
    check: Annotated[
        bool, Option(help="Only check; exit with code 1 if a stub or figure is stale.")
    ] = False,
    figures: Annotated[bool, Option(help="Draw the figures too.")] = False,
) -> bool:
    """Generate the stubs in exercises/ from the solutions, and the figures in assets/.

    Example: autograder build --check
    """
    from ...authoring.lesson.figures import draw_figures, stale_figures
    from ...model.course.stubs import is_stale, stub_path, write_stub

    course = load(unfinished=True)
    stale = [week for week in course.weeks if is_stale(course, week)]
    for week in stale:
        path = (stub_path if check else write_stub)(course, week).relative_to(course.root)
        print(f"{path} is stale: run `autograder build`" if check else f"wrote {path}")
    if not stale:
        print(f"{len(course.weeks)} stubs are up to date")
    if check:
        drawings = [p for week in course.weeks for p in stale_figures(course, week)]
        print("\n".join(drawings) or "the figures are up to date")
        return not (stale or drawings)
    for week in course.weeks if figures else ():
        for drawn in draw_figures(course, week):
            print(f"drew {drawn.relative_to(course.root)}")
    return True
