"""`regrade` and `restore`: change scores that have been recorded."""

from __future__ import annotations

from collections.abc import Sequence

from ...model.course import Course, Week
from ...model.errors import KitError
from ...model.report.differences import changes
from ...nbgrader.collect.earlier import chosen_entry, restore, submissions_of
from ...nbgrader.collect.history import Entry, History
from ...nbgrader.collect.submissions import collected
from ...nbgrader.gradebook.effective_results import PastResult, results
from ...nbgrader.regrade.regrade import (
    LeftOut,
    Preview,
    carry_out,
    plan_of,
    preview,
    stale_feedback,
    total,
    undoing,
)
from ...nbgrader.regrade.regrade_log import Plan, RegradeLog, ScoreChange
from ...nbgrader.release.archive import grade_by_release
from ...nbgrader.status import returned
from ...nbgrader.workspace import Workspace
from ...terminal.console import terminal
from ..output import borderless_table, plural
from .grading import Grading


def run_preview(course: Course, week: Week, *, jobs: int | None) -> bool:
    """Preview a regrade; return whether all submissions could be graded."""
    interrupted = RegradeLog(course, week).unfinished()
    if interrupted is not None:
        print(
            f"LOOK  the {_kind(interrupted)} of {interrupted.at} was interrupted; "
            "`--apply` or `--undo` finishes it first"
        )
    found, _ = _preview(course, week, jobs)
    _print_preview(week, found)
    if found.changes:
        print(
            "nothing was written; to write it: "
            f'`autograder regrade {week.name} --apply --reason "…"`'
        )
    return LeftOut.GRADER_FAULT not in found.left_out.values()


def run_apply(course: Course, week: Week, reason: str, *, jobs: int | None) -> bool:
    """Write the new scores; return whether all submissions could be graded."""
    log = RegradeLog(course, week)
    if not reason.strip():
        raise KitError('--apply needs --reason "…", which is recorded in the log of regrades')
    with log.alone():
        _finish(course, week, log)
        found, plan = _preview(course, week, jobs, reason)
        _print_preview(week, found)
        if found.changes:
            _write(course, week, log, plan)
        else:
            print("nothing was written")
    return LeftOut.GRADER_FAULT not in found.left_out.values()


def run_undo(course: Course, week: Week, reason: str) -> None:
    """Restore the scores before the last regrade."""
    log = RegradeLog(course, week)
    with log.alone():
        _finish(course, week, log)
        plan, newer = undoing(course, week, log, reason)
        _print_changes(plan.changes, why=False)
        for student in newer:
            print(f"{student}: not changed, because it was graded again since the regrade")
        _write(course, week, log, plan)


def _finish(course: Course, week: Week, log: RegradeLog) -> None:
    """Finish a regrade that was interrupted."""
    plan = log.unfinished()
    if plan is not None:
        print(f"finishing the {_kind(plan)} of {plan.at}, which was interrupted")
        _write(course, week, log, plan)


def _kind(plan: Plan) -> str:
    return "regrade" if plan.do == "apply" else "undo"


def _preview(
    course: Course, week: Week, jobs: int | None, reason: str = ""
) -> tuple[Preview, Plan]:
    if not collected(course, week):
        raise KitError(
            f"nothing was collected for {week.name}: run `autograder collect {week.name}`"
        )
    report, lines = grade_by_release(course, week, Grading(jobs).run)
    for line in lines:
        print(line)
    found = preview(course, week, report)
    return found, plan_of(course, week, report, found, reason)


def _print_preview(week: Week, found: Preview) -> None:
    _print_changes(found.rescored, why=True)
    unchanged = len(found.same) + len(found.reworded)
    print(f"{week.name}: {plural(len(found.rescored), 'score')} changed, {unchanged} unchanged")
    if found.reworded:
        names = ", ".join(c.student for c in found.reworded)
        print(f"same score, but different verdicts or messages: {names}")
    for student, exercises in found.by_hand.items():
        print(f"{student}: not changed, because marked manually: {', '.join(exercises)}")
    for student, why in found.left_out.items():
        print(f"{student}: left out, {why.words(week)}")


def _print_changes(some: Sequence[ScoreChange], *, why: bool) -> None:
    """Print the scores of the exercises, without written answers and late penalties."""
    if not some:
        return
    table = borderless_table("student", ">score", ">now", ">change", *(["why"] if why else []))
    for change in some:
        old, new = total(change)
        row = [change.student, f"{old:g}", f"{new:g}", f"{new - old:+.4g}"]
        table.add_row(*row, *([_reasons(change)] if why else []))
    terminal().print(table)


def _reasons(change: ScoreChange) -> str:
    lines = [f"{c.name}: {reason}" for c in changes(change.old, change.new) for reason in c.reasons]
    return "\n".join(lines) or "the gradebook's score differed from the report"


def _write(course: Course, week: Week, log: RegradeLog, plan: Plan) -> None:
    carry_out(course, week, log, plan)
    students = plural(len(plan.changes), "student")
    print(f"written: {students}, with new late penalties; the log is {log.path}")
    if stale := stale_feedback(course, week, plan):
        print(f"their feedback shows the old score: {', '.join(stale)}")
        print(f"`autograder feedback {week.name}` updates and releases it")


def run_restore(course: Course, week: Week, student: str, wanted: str | None) -> None:
    """List a student's submissions, or restore the `wanted` one."""
    history = submissions_of(course, week, student)
    if wanted is not None:
        entry = chosen_entry(history, wanted)
        for line in restore(course, week, student, entry):
            print(line)
        print(f"submission {entry.number} of {entry.when} counts until {student} submits again")
        if returned(Workspace(course), week, student):
            print(
                "their feedback is for a different submission: "
                f"`autograder feedback {week.name}` updates it"
            )
        return
    by_number = {r.number: r for r in results(course, week, student)}
    for entry in history.entries:
        print(_history_line(entry, history, by_number.get(entry.number)))
    print(f"to restore one: `autograder restore {week.name} {student} --to NUMBER`")


def _history_line(entry: Entry, history: History, result: PastResult | None) -> str:
    if entry.problem:
        state = f"not accepted: {entry.problem}"
    elif result is None:
        state = "not graded yet"
    else:
        state = f"{result.kept:g} points"
    kept = [part.name for part in entry.parts if part.fate == "kept"]
    parts = f"; kept {', '.join(kept)}" if kept else ""
    counts = "*" if entry.number == history.current else " "
    return f"{counts} {entry.number:>3}  {entry.when}  {entry.channel:9} {state}{parts}"
