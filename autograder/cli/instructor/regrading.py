"""`regrade`, `restore` and `requests`: change recorded scores, and answer regrade requests."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from ...model.course import Course, Week
from ...model.errors import KitError
from ...model.message_text import plural, visible
from ...model.submission_files import local_text
from ...terminal.console import Terminal
from ..app import flag
from ..options import JobsOption, WeekArgument, find_week
from ..output import counted, new_table

if TYPE_CHECKING:
    from ...nbgrader.collect.history import Entry, History
    from ...nbgrader.gradebook.effective_results import PastResult
    from ...nbgrader.regrade.regrade import Preview
    from ...nbgrader.regrade.regrade_log import Plan, RegradeLog, ScoreChange


def regrade(
    week: WeekArgument,
    preview: Annotated[bool, flag("preview", "Only show the changes.")] = False,
    apply: Annotated[bool, flag("apply", "Write the changes to the gradebook.")] = False,
    undo: Annotated[bool, flag("undo", "Restore the scores before the last --apply.")] = False,
    reason: Annotated[str, Option(help="With --apply: the reason, for the log of regrades.")] = "",
    jobs: JobsOption = None,
) -> bool:
    """Grade a week again after a hidden test was fixed; show which scores change, and why.

    Manual marks are not changed. Exit code 1 if a submission could not be graded.

    Example: autograder regrade week01 --apply --reason "a test was too strict"
    """
    course, chosen = find_week(week)
    if preview + apply + undo != 1:
        raise KitError("use exactly one of --preview, --apply and --undo")
    if apply and not reason.strip():
        raise KitError('--apply needs --reason "…", which is recorded in the log of regrades')
    from ...nbgrader.regrade.regrade import LeftOut, undoing
    from ...nbgrader.regrade.regrade_log import RegradeLog

    log = RegradeLog(course, chosen)
    if preview:
        if (interrupted := log.unfinished()) is not None:
            print(
                f"LOOK  the {_kind(interrupted)} of {interrupted.at} was interrupted; "
                "the next `--apply` or `--undo` finishes it first"
            )
        found, _ = _preview(course, chosen, jobs)
        if found.changes:
            print(
                "nothing was written; to write the changes, run "
                f'`autograder regrade {chosen.name} --apply --reason "…"`'
            )
        return LeftOut.GRADER_FAULT not in found.left_out.values()
    with log.alone():
        if (interrupted := log.unfinished()) is not None:
            print(f"finishing the {_kind(interrupted)} of {interrupted.at}, which was interrupted")
            _carry_out(course, chosen, log, interrupted)
        if undo:
            plan, newer = undoing(course, chosen, log, reason)
            _print_changes(plan.changes)
            for student in newer:
                print(f"{student}: not changed, because it was graded again since the regrade")
            _carry_out(course, chosen, log, plan)
            return True
        found, plan = _preview(course, chosen, jobs, reason)
        if found.changes:
            _carry_out(course, chosen, log, plan)
        else:
            print("nothing was written")
    return LeftOut.GRADER_FAULT not in found.left_out.values()


def _kind(plan: Plan) -> str:
    return "undo" if plan.undoes else "regrade"


def _preview(
    course: Course, week: Week, jobs: int | None, reason: str = ""
) -> tuple[Preview, Plan]:
    """Grade the week again and print the changes; return a preview and a plan to apply them."""
    from ...nbgrader.collect.submissions import collected
    from ...nbgrader.regrade.regrade import plan_of, preview
    from ...nbgrader.release.archive import grade_by_release
    from .grading import run_batch

    if not collected(course, week):
        raise KitError(f"nothing was collected: run `autograder collect {week.name}`")
    report, _, lines = grade_by_release(course, week, partial(run_batch, jobs=jobs))
    for line in lines:
        print(line)
    found = preview(course, week, report)
    _print_changes(found.rescored)
    unchanged = len(found.same) + len(found.reworded)
    print(f"{week.name}: {plural(len(found.rescored), 'score')} changed, {unchanged} unchanged")
    if found.reworded:
        names = ", ".join(c.student for c in found.reworded)
        print(f"same score, but different verdicts or messages: {names}")
    for student, exercises in found.by_hand.items():
        print(f"{student}: not changed, because marked manually: {', '.join(exercises)}")
    for student, why in found.left_out.items():
        print(f"{student}: left out, {why.value.format(week=week.name)}")
    return found, plan_of(course, week, report, found, reason)


def _print_changes(some: Sequence[ScoreChange]) -> None:
    """Print score changes and reasons. The scores exclude written answers and late penalties."""
    from ...model.report.comparison import changes
    from ...nbgrader.regrade.regrade import total

    if not some:
        return
    table = new_table("student", ">score", ">now", ">change", "why")
    for change in some:
        old, new = total(change)
        why = "\n".join(changes(change.old, change.new))
        why = why or "the gradebook's score differed from the report"
        table.add_row(change.student, f"{old:g}", f"{new:g}", f"{new - old:+.4g}", why)
    Terminal().print(table)


def _carry_out(course: Course, week: Week, log: RegradeLog, plan: Plan) -> None:
    from ...nbgrader.gradebook.report_store import feedback_is_stale
    from ...nbgrader.regrade.regrade import carry_out

    carry_out(course, week, log, plan)
    students = plural(len(plan.changes), "student")
    print(f"wrote the scores and late penalties of {students}; recorded in {log.folder}")
    changed = (change.student for change in plan.changes)
    if stale := [student for student in changed if feedback_is_stale(course, week, student)]:
        print(
            f"feedback from before: {counted(stale)}: `autograder feedback {week.name}` updates it"
        )


def restore(
    week: WeekArgument,
    student: Annotated[str, Argument(help="A student's name in the gradebook.")],
    to: Annotated[str | None, Option(metavar="WHICH", help="The submission's number.")] = None,
) -> None:
    """List a student's submissions of a week, or restore an earlier one.

    Manual marks are not changed. A restored submission counts until the student submits again.

    Example: autograder restore week01 ada --to 2
    """
    course, chosen = find_week(week)
    from ...nbgrader.autograde.recorder import chosen_entry, restore, submissions_of
    from ...nbgrader.gradebook.effective_results import results
    from ...nbgrader.status import returned
    from ...nbgrader.workspace import Workspace

    history = submissions_of(course, chosen, student)
    if to is None:
        by_number = {r.number: r for r in results(course, chosen, student)}
        for entry in history.entries:
            when = entry.when(course.zone)
            print(_history_line(entry, when, history, by_number.get(entry.number)))
        print(f"to restore one: `autograder restore {chosen.name} {student} --to NUMBER`")
        return
    entry = chosen_entry(history, to)
    for line in restore(course, chosen, student, entry):
        print(line)
    when = entry.when(course.zone)
    print(f"submission {entry.number} of {when} counts until {student} submits again")
    if returned(Workspace(course), chosen, student):
        print(
            f"the feedback that {student} has is for a different submission: "
            f"`autograder feedback {chosen.name} --student {student}` updates it"
        )


def _history_line(entry: Entry, when: str, history: History, result: PastResult | None) -> str:
    if entry.problem:
        state = f"not accepted: {entry.problem}"
    elif result is None:
        state = "not graded yet"
    else:
        state = f"{result.kept:g} points"
    kept = [part.name for part in entry.parts if part.fate == "kept"]
    parts = f"; kept {', '.join(kept)}" if kept else ""
    counts = "*" if entry.number == history.current else " "
    return f"{counts} {entry.number:>3}  {when}  {entry.channel:9} {state}{parts}"


def requests(
    week: WeekArgument,
    answer: Annotated[
        str | None, Option(metavar="STUDENT", help="Answer this student's request with --text.")
    ] = None,
    text: Annotated[str, Option(help="The answer, which the feedback shows.")] = "",
) -> bool:
    """Show requests for a regrade with their reasons; exit code 1 if a request is open.

    To request a regrade, students submit again with a file `regrade-request.md` in the folder.

    Example: autograder requests week01 --answer ada --text "You are right: see your new score."
    """
    course, chosen = find_week(week)
    if (answer is None) != (not text):
        raise KitError("--answer STUDENT and --text must be used together")
    from ...nbgrader.regrade.regrade_log import answer_request, open_requests, read_request

    if answer is not None:
        answer_request(course, chosen, answer, text)
        print(f"answered; `autograder feedback {chosen.name} --student {answer}` releases it")
    waiting = open_requests(course, chosen)
    for name in waiting:
        request = read_request(course, chosen, name)
        if request is not None:
            print(f"{name}, {local_text(request.asked, course.zone)}:")
            for line in request.text.splitlines():
                print(f"    {visible(line)}")
    if not waiting:
        print("there are no open requests")
    return not waiting
