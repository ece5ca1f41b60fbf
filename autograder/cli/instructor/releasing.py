"""`release` and `feedback`: hand weeks, solutions and feedback to the students."""

from __future__ import annotations

from typing import Annotated

from typer import Option

from ...model.course import Course, Week
from ...model.errors import KitError
from ...model.spelling import did_you_mean
from ...terminal.console import terminal
from ..app import UnmarkedOption, WeekArgument, find_week, flag, instructor_command
from ..output import counting, print_attention


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
    if released.beside:
        print(
            "students with the previous release fetch   "
            f"nbgrader fetch_assignment {released.beside}   as well; its CHANGES.md lists changes"
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
    print(f"students fetch them with   nbgrader fetch_assignment {out.name} --course {course.id}")
    print(f"the same files, for a learning platform:   {out.folder}")
    for note in out.notes:
        print(f"note: {note}")


@instructor_command
def feedback(
    week: WeekArgument,
    students: Annotated[
        list[str] | None, Option("--student", help="Only for this student; may be repeated.")
    ] = None,
    unmarked: UnmarkedOption = False,
) -> bool:
    """Write the feedback for a graded week, and release it through nbgrader.

    Example: autograder feedback week01 --student ada
    """
    course, chosen = find_week(week)
    from ...nbgrader.feedback.publish_feedback import return_feedback
    from ...nbgrader.gradebook.due_dates import unknown_extensions
    from ...nbgrader.gradebook.final_scores import require_marked
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
    known = print_attention(unknown_extensions(course, chosen))
    return len(result.students) == len(wanted) and known
