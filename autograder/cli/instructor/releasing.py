"""`release`: hand weeks and solutions to the students."""

from __future__ import annotations

from typing import Annotated

from ...model.course import Course, Week
from ...model.errors import KitError
from ...terminal.console import terminal
from ..app import flag, instructor_command
from ..options import WeekArgument, find_week
from ..output import print_attention


@instructor_command
def release(
    week: WeekArgument,
    early: Annotated[bool, flag("early", "Release before the week's release date.")] = False,
    again: Annotated[
        bool, flag("again", "Release a corrected week next to the one students have.")
    ] = False,
    solutions: Annotated[
        bool, flag("solutions", "Release its solutions, after the last extension.")
    ] = False,
    unproven: Annotated[
        bool, flag("unproven", "Even if graders or public checks have gaps.")
    ] = False,
) -> bool:
    """Release a week to the students: verify it, check for leaks, and hand it to nbgrader.

    Parts that `verify` has checked and that have not changed are not verified again.

    Example: autograder release week01 --early
    """
    course, chosen = find_week(week)
    if solutions:
        if early or again:
            raise KitError(
                "--solutions cannot be combined with --early or --again: solutions are released "
                "when nobody can use them any more"
            )
        _release_solutions(course, chosen)
        return True
    from ...nbgrader.release.publish import release
    from ...nbgrader.workspace import Workspace

    if not unproven:
        _require_proof(course, chosen)
    with terminal(stderr=True).status(f"releasing {chosen.name}"):
        released = release(course, chosen, early=early, again=again)
    print(f"released {chosen.name}: {len(released.files)} files, checked for secret lines")
    print(f"students fetch it with   nbgrader fetch_assignment {chosen.name} --course {course.id}")
    if released.second_name:
        print(
            "students with the previous release fetch   "
            f"nbgrader fetch_assignment {released.second_name}   as well; its CHANGES.md lists "
            "changes"
        )
    exchange = Workspace(course).exchange
    print(
        "their nbgrader_config.py, in the folder of the weeks, needs   "
        f"c.Exchange.root = {str(exchange)!r}"
    )
    kit = "with the kit" if released.wheel else "without the kit: `make wheel`, then release again"
    print(f"for Colab, Kaggle or a learning platform: {released.bundle} ({kit})")
    return print_attention(released.notes)


def _require_proof(course: Course, week: Week) -> None:
    from ..author.verification import Verify, verified

    (result,) = verified(Verify(course, [week], public=True))
    if not result.gaps:  # continue with the parts that take longer
        (result,) = verified(Verify(course, [week], lesson=True))
    if not print_attention(result.gaps, "GAP"):
        raise KitError(
            f"{week.name} is not proven: fix the gaps above (`autograder verify {week.name} "
            "--quick --lesson` shows them), or use --unproven"
        )


def _release_solutions(course: Course, week: Week) -> None:
    from ...nbgrader.release.solutions import release_solutions

    out = release_solutions(course, week)
    print(f"released the solutions of {week.name}: {len(out.files)} files, without hidden tests")
    name = out.folder.name
    print(f"students fetch them with   nbgrader fetch_assignment {name} --course {course.id}")
    print(f"the same files, for a learning platform:   {out.folder}")
    for note in out.notes:
        print(f"note: {note}")
