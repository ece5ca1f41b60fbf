"""`release`, `collect`, `feedback` and `demo` on a terminal."""

from __future__ import annotations

import time
from collections.abc import Sequence

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from ....model.course.folder_checks import did_you_mean
from ....model.course.loader import Course, Week
from ....model.errors import KitError
from ....model.report.schema import SubmissionReport
from ....model.report.verdicts import Ending
from ....nbgrader.collect.collector import collect
from ....nbgrader.demo import Played, play, sample_class, steps
from ....nbgrader.feedback.provisional import require_marked
from ....nbgrader.feedback.publish_feedback import return_feedback
from ....nbgrader.release.extensions import unknown_extensions
from ....nbgrader.release.publish import release
from ....nbgrader.release.solutions import release_solutions
from ....nbgrader.workspace import Workspace
from ....terminal.console import bar, terminal
from .status_table import counted


def run_release(
    course: Course, week: Week, *, early: bool, again: bool = False, unproven: bool = False
) -> bool:
    """Release, and say what students need to know; return whether nothing needs a look.

    Not before the week is proven as it stands, unless `unproven`: quickly, and not again what was.
    """
    if not unproven:
        _require_proof(course, week)
    with terminal(stderr=True).status(f"releasing {week.name}"):
        released = release(course, week, early=early, again=again)
    print(f"released {week.name}: {len(released.files)} files, none with a secret line in it")
    print(f"students fetch it with   nbgrader fetch_assignment {week.name} --course {course.id}")
    if released.beside:
        print(
            f"whoever has the former one fetches   nbgrader fetch_assignment {released.beside}   "
            "beside it; CHANGES.md in it says what is new"
        )
        who = ", ".join(released.old) or "nobody"
        print(f"handed in from the former one: {who}; nbgrader does not tell who only fetched it")
    exchange = Workspace(course).exchange
    print(
        "their nbgrader_config.py, where the weeks' folders are, needs   "
        f"c.Exchange.root = {str(exchange)!r}"
    )
    kit = "with the kit" if released.wheel else "without the kit: `make wheel`, then release again"
    print(f"for Colab, Kaggle or a learning platform: {released.bundle} ({kit})")
    for note in released.notes:
        print(f"LOOK  {note}")
    return not released.notes


def _require_proof(course: Course, week: Week) -> None:
    from ..author.verification import Wanted, proven

    (result,) = proven(Wanted(course, [week], public=True))
    if not result.gaps:  # what takes longer
        (result,) = proven(Wanted(course, [week], lesson=True))
    for gap in result.gaps:
        print(f"GAP  {gap}")
    if result.gaps:
        raise KitError(
            f"{week.name} is not proven: mend the gaps above (`autograder verify {week.name} "
            "--quick --lesson` shows them), or say --unproven"
        )


def run_release_solutions(course: Course, week: Week) -> None:
    """Release the solutions, and say where they are."""
    out = release_solutions(course, week)
    print(f"released the solutions of {week.name}: {len(out.files)} files, no hidden test in them")
    print(f"students fetch them with   nbgrader fetch_assignment {out.name} --course {course.id}")
    print(f"the same as files, for a learning platform:   {out.folder}")
    for note in out.notes:
        print(f"mind that {note}")


def run_collect(course: Course, week: Week) -> bool:
    """Collect, say who handed in and what is odd; return whether nothing is odd."""
    found = collect(course, week)
    print(f"collected {len(found.fresh)} new, {len(found.unchanged)} had been collected before")
    if found.missing:
        print(f"nothing yet from {counted(found.missing)}")
    for owner in sorted(set(found.foreign.values())):
        names = sorted(s for s, o in found.foreign.items() if o == owner)
        print(f"LOOK  handed in by the user {owner} under other names: {counted(names)}")
    if found.grouped:
        print(f"laid into group members' folders: {'; '.join(found.grouped)}")
    for student in found.asking:
        print(f"a regrade is asked for: {student}; `autograder requests {week.name}`")
    for note in found.notes:
        print(f"LOOK  {note}")
    return not (found.foreign or found.notes)


def run_feedback(
    course: Course, week: Week, students: Sequence[str] = (), *, unmarked: bool = False
) -> bool:
    """Give feedback to everybody who was graded; return whether all of it was released.

    `students`: to these only. `unmarked`: also where answers wait to be marked.
    """
    columns = TextColumn("feedback"), BarColumn(), TimeElapsedColumn()
    graded = Workspace(course).students("autograded", week)
    if strangers := [s for s in students if s not in graded]:
        raise KitError(
            f"{strangers[0]} was not graded in {week.name}{did_you_mean(strangers[0], graded)}"
        )
    chosen = sorted(set(students)) or graded
    if not unmarked:
        require_marked(course, [week], chosen)
    progress = bar(*columns)
    task = progress.add_task("", total=len(chosen))

    def done() -> None:
        progress.start()  # not before, for it has a thread, and processes are forked
        progress.advance(task)

    try:
        returned = return_feedback(course, week, on_done=done, students=chosen)
    finally:
        progress.stop()
    print(f"released feedback to {len(returned.students)} of {len(chosen)}")
    unknown = unknown_extensions(course, week)
    for note in returned.notes + [f"LOOK  {line}" for line in unknown]:
        print(note)
    return len(returned.students) == len(chosen) and not unknown


class _Steps:
    """A progress bar on standard error, and a line with its time for each step that is done."""

    def __init__(self, progress: Progress, total: int) -> None:
        self._progress, self._task = progress, progress.add_task("", total=total)
        self._doing, self._since = "", time.perf_counter()

    def __call__(self, doing: str, done: int) -> None:
        if doing != self._doing:
            self.end()
            self._doing, self._since = doing, time.perf_counter()
        self._progress.update(self._task, description=doing, advance=done)

    def end(self) -> None:
        if self._doing:
            seconds = time.perf_counter() - self._since
            self._progress.console.print(f"{seconds:6.1f} s  {self._doing}", highlight=False)


def run_demo(course: Course) -> bool:
    """Play the sample week and show the result; return whether everybody could be graded."""
    columns = (
        BarColumn(),
        TextColumn("{task.percentage:>3.0f}%"),
        TimeElapsedColumn(),
        TextColumn("{task.description}"),
    )
    with bar(*columns) as progress:
        told = _Steps(progress, steps(course))
        played = play(course, told)
        told.end()
    console = terminal()
    if not console.is_terminal:
        console = terminal(width=100)
    _print_gradebook(console, played)
    _print_misconceptions(console, played)
    _print_places(console, course, played)
    return all(s.verdict is not Ending.GRADER_FAULT for s in played.report.submissions)


def _print_gradebook(console: Console, played: Played) -> None:
    names = [e.name for e in played.week.exercises]
    console.print("\nThe class:")
    for pupil in sample_class(played.course):
        console.print(f"  {pupil.name:10} {pupil.story}", highlight=False)
    table = Table(title=f"\nnbgrader's gradebook, {played.week.name}", title_justify="left")
    table.add_column("student")
    for number, _ in enumerate(names, start=1):
        table.add_column(str(number), justify="right")
    table.add_column("total", justify="right")
    table.add_column("what was found, by exercise", overflow="fold")
    found = {s.name: _found(s) for s in played.report.submissions}
    for standing in played.standings:
        scores = [f"{standing.scores[name]:g}" for name in names]
        total = f"{standing.score:.1f}/{standing.max_score:g}"
        table.add_row(standing.student, *scores, total, found[standing.student])
    console.print(table)
    for number, name in enumerate(names, start=1):
        console.print(f"  {number} {name}", highlight=False)
    written = sum(s.to_mark for s in played.standings)
    console.print(f"{written} written answers wait to be marked by hand in Formgrader.")
    for line in played.said:
        console.print(line)


def _found(submission: SubmissionReport) -> str:
    """What stands out, each thing once, behind the numbers of the exercises it was found in."""
    if submission.verdict is not Ending.GRADED:
        return f"{submission.verdict}: {submission.reason}"
    notes: dict[str, list[str]] = {}
    for number, exercise in enumerate(submission.exercises, start=1):
        failed = [t for t in exercise.tests if t.verdict.reported]
        if failed:
            opened = exercise.unwritten
            seen = exercise.diagnosis[0] if exercise.diagnosis else failed[0].verdict
            notes.setdefault("not written yet" if opened else seen, []).append(str(number))
    return "; ".join(f"{', '.join(numbers)}: {note}" for note, numbers in notes.items())


def _print_misconceptions(console: Console, played: Played) -> None:
    table = Table(title="\nWhat the class misunderstood", title_justify="left")
    table.add_column("students", justify="right")
    table.add_column("exercise", overflow="fold")
    table.add_column("what it looks like", overflow="fold")
    for exercise, title, count in played.commonest():
        table.add_row(str(count), exercise, title)
    console.print(table)


def _print_places(console: Console, course: Course, played: Played) -> None:
    console.print("\nFeedback (open in a browser):")
    for _, page in sorted(played.pages.items()):
        console.print(f"  {page.relative_to(course.root)}", soft_wrap=True)
    if played.fetched:
        student, page = sorted(played.fetched.items())[0]
        console.print(f"What {student} fetched with nbgrader, in the lesson's notebook:")
        console.print(f"  '{page.relative_to(course.root)}'", soft_wrap=True)
