"""`autograder regrade` on a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table

from ....model.course.loader import Course, Week
from ....model.errors import KitError
from ....model.report.differences import changes
from ....nbgrader.collect.submissions import collected
from ....nbgrader.regrade.regrade import (
    LeftOut,
    Preview,
    carry_out,
    plan_of,
    preview,
    stale_feedback,
    total,
    undoing,
)
from ....nbgrader.regrade.regrade_log import Plan, RegradeLog, ScoreChange
from ....nbgrader.release.archive import grade_by_release
from ....terminal.console import terminal
from .grading import grade_with_bar


def run_preview(course: Course, week: Week, *, jobs: int | None) -> bool:
    """Show what a regrade would do; return whether everybody could be graded."""
    log = RegradeLog(course, week)
    interrupted = log.unfinished()
    if interrupted is not None:
        print(
            f"LOOK  the {_named(interrupted)} of {interrupted.at} was interrupted; "
            "`--apply` or `--undo` finishes it first"
        )
    found, _ = _preview(course, week, jobs)
    _print_preview(week, found)
    if found.changes:
        print(f'Nothing was written. `autograder regrade {week.name} --apply --reason "…"` does.')
    return not _faults(found)


def run_apply(course: Course, week: Week, reason: str, *, jobs: int | None) -> bool:
    """Write the new scores; return whether everybody could be graded."""
    log = RegradeLog(course, week)
    if not reason.strip():
        raise KitError('--apply needs --reason "…": it stays in the log of the regrades')
    with log.alone():
        _finish(course, week, log)
        found, plan = _preview(course, week, jobs, reason)
        _print_preview(week, found)
        if found.changes:
            said = carry_out(course, week, log, plan)
            _print_written(course, week, log, plan, said)
        else:
            print("Nothing was written.")
    return not _faults(found)


def run_undo(course: Course, week: Week, reason: str) -> None:
    """Bring the scores before the last regrade back."""
    log = RegradeLog(course, week)
    with log.alone():
        _finish(course, week, log)
        plan, gone = undoing(course, week, log, reason)
        _print_changes(plan.changes, why=False)
        for student in gone:
            print(f"{student} keeps the score: graded again since the regrade")
        _print_written(course, week, log, plan, carry_out(course, week, log, plan))


def _finish(course: Course, week: Week, log: RegradeLog) -> None:
    plan = log.unfinished()
    if plan is not None:
        said = carry_out(course, week, log, plan)
        print(f"finished the {_named(plan)} of {plan.at}, which was interrupted")
        _print_written(course, week, log, plan, said)


def _named(plan: Plan) -> str:
    return "regrade" if plan.do == "apply" else "undoing of a regrade"


def _preview(
    course: Course, week: Week, jobs: int | None, reason: str = ""
) -> tuple[Preview, Plan]:
    submissions = collected(course, week)
    if not submissions:
        raise KitError(
            f"nothing was collected for {week.name}: run `autograder collect {week.name}`"
        )
    report, said = grade_by_release(
        course, week, lambda of, own, some: grade_with_bar(of, own, some, jobs=jobs)
    )
    for line in said:
        print(line)
    found = preview(course, week, report)
    return found, plan_of(course, week, report, found, reason)


def _faults(found: Preview) -> bool:
    return LeftOut.GRADER_FAULT in found.left_out.values()


def _print_preview(week: Week, found: Preview) -> None:
    _print_changes(found.rescored, why=True)
    print(
        f"{week.name}: {_counted(len(found.rescored), 'score')} "
        f"{'changes' if len(found.rescored) == 1 else 'change'}, "
        f"{len(found.same) + len(found.reworded)} stay"
    )
    if found.reworded:
        names = ", ".join(c.student for c in found.reworded)
        print(f"the same score, but other verdicts or words: {names}")
    for student, exercises in found.by_hand.items():
        print(f"{student}: marked by hand and left so: {', '.join(exercises)}")
    for student, why in found.left_out.items():
        print(f"{student}: left out, {why.words(week)}")


def _print_changes(some: Sequence[ScoreChange], *, why: bool) -> None:
    """Scores are those of the exercises, without written questions and late work."""
    if not some:
        return
    console = terminal()
    table = Table(box=None, pad_edge=False)
    table.add_column("student", overflow="fold")
    for name in ("score", "now", "change"):
        table.add_column(name, justify="right")
    if why:
        table.add_column("why", overflow="fold")
    for change in some:
        old, new = total(change)
        row = [change.student, f"{old:g}", f"{new:g}", f"{new - old:+.4g}"]
        table.add_row(*row, *([_why(change)] if why else []))
    console.print(table)


def _why(change: ScoreChange) -> str:
    lines = [f"{c.name}: {reason}" for c in changes(change.old, change.new) for reason in c.reasons]
    return "\n".join(lines) or "the gradebook had another score than its report"


def _print_written(
    course: Course, week: Week, log: RegradeLog, plan: Plan, said: Sequence[str]
) -> None:
    students = _counted(len(plan.changes), "student")
    print(f"written: {students}, late penalties counted again; the log is {log.path}")
    for line in said:
        print(line)
    stale = stale_feedback(course, week, plan)
    if stale:
        print(f"their feedback shows the old score: {', '.join(stale)}")
        print(f"`autograder feedback {week.name}` writes it and releases it again")


def _counted(number: int, thing: str) -> str:
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"
