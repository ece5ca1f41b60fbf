"""`release` and `feedback`: hand weeks, solutions and feedback to the students."""

from __future__ import annotations

from collections.abc import Sequence

from rich.progress import BarColumn, TextColumn, TimeElapsedColumn

from ...model.course import Course, Week
from ...model.errors import KitError
from ...model.spelling import did_you_mean
from ...nbgrader.feedback.provisional import require_marked
from ...nbgrader.feedback.publish_feedback import return_feedback
from ...nbgrader.gradebook.due_dates import unknown_extensions
from ...nbgrader.release.publish import release
from ...nbgrader.release.solutions import release_solutions
from ...nbgrader.workspace import Workspace
from ...terminal.console import bar, terminal


def run_release(
    course: Course, week: Week, *, early: bool, again: bool = False, unproven: bool = False
) -> bool:
    """Release a week; return False if something needs attention.

    The week is verified first unless `unproven`; parts that have not changed are not repeated.
    """
    if not unproven:
        _require_proof(course, week)
    with terminal(stderr=True).status(f"releasing {week.name}"):
        released = release(course, week, early=early, again=again)
    print(f"released {week.name}: {len(released.files)} files, checked for secret lines")
    print(f"students fetch it with   nbgrader fetch_assignment {week.name} --course {course.id}")
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
    for note in released.notes:
        print(f"LOOK  {note}")
    return not released.notes


def _require_proof(course: Course, week: Week) -> None:
    from ..author.verification import Verify, verified

    (result,) = verified(Verify(course, [week], public=True))
    if not result.gaps:  # continue with the parts that take longer
        (result,) = verified(Verify(course, [week], lesson=True))
    for gap in result.gaps:
        print(f"GAP  {gap}")
    if result.gaps:
        raise KitError(
            f"{week.name} is not proven: fix the gaps above (`autograder verify {week.name} "
            "--quick --lesson` shows them), or use --unproven"
        )


def run_release_solutions(course: Course, week: Week) -> None:
    """Release the solutions, and print where they are."""
    out = release_solutions(course, week)
    print(f"released the solutions of {week.name}: {len(out.files)} files, without hidden tests")
    print(f"students fetch them with   nbgrader fetch_assignment {out.name} --course {course.id}")
    print(f"the same files, for a learning platform:   {out.folder}")
    for note in out.notes:
        print(f"note: {note}")


def run_feedback(
    course: Course, week: Week, students: Sequence[str] = (), *, unmarked: bool = False
) -> bool:
    """Release feedback to all graded students, or to those named; return whether all got it.

    unmarked: release it even if written answers are not marked.
    """
    graded = Workspace(course).students("autograded", week)
    if unknown := [s for s in students if s not in graded]:
        raise KitError(
            f"{unknown[0]} was not graded in {week.name}{did_you_mean(unknown[0], graded)}"
        )
    chosen = sorted(set(students)) or graded
    if not unmarked:
        require_marked(course, [week], chosen)
    progress = bar(TextColumn("feedback"), BarColumn(), TimeElapsedColumn())
    task = progress.add_task("", total=len(chosen))

    def done() -> None:
        progress.start()  # not earlier: its thread must not exist when processes are forked
        progress.advance(task)

    try:
        result = return_feedback(course, week, on_done=done, students=chosen)
    finally:
        progress.stop()
    print(f"released feedback to {len(result.students)} of {len(chosen)}")
    extensions = unknown_extensions(course, week)
    for note in result.notes + [f"LOOK  {line}" for line in extensions]:
        print(note)
    return len(result.students) == len(chosen) and not extensions
