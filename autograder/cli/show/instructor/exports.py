"""What goes to other systems, on a terminal: a week for Gradescope or GitHub, grades by network."""

from __future__ import annotations

from pathlib import Path

from rich.progress import BarColumn, TextColumn, TimeElapsedColumn

from ....channels.git import collect_git, read_repositories
from ....channels.github import export_template
from ....channels.gradescope_zip import autograder_zip, write_zip
from ....model.course.loader import Course, Week
from ....nbgrader.collect.groups import grouped_lines, spread_groups
from ....nbgrader.collect.submissions import acceptor
from ....nbgrader.gradebook.database import read_gradebook
from ....terminal.console import bar
from .status_table import counted


def run_gradescope(
    course: Course, week: Week, out: Path | None, visibility: str, feedback: str
) -> None:
    """Write the autograder zip, and say what is in it and where it may go."""
    data = autograder_zip(course, week, visibility, feedback)
    path = out or Path(f"{week.name}-gradescope.zip")
    write_zip(path, data)
    print(f"{path}: upload it under Configure Autograder; the container needs 2 GB of memory")
    print(
        "secret: it holds hidden tests and solutions: for you and the course's staff on Gradescope "
        "alone. In the container only root reads them"
    )
    if week.questions:
        written = ", ".join(q.name for q in week.questions)
        print(f"not in it: the written answers ({written}), which a person marks")


def run_github(course: Course, week: Week, out: Path | None) -> None:
    """Write the template and the bundle of Classroom 50, and say what to do with them."""
    made = export_template(course, week, out or Path(f"{week.name}-github"))
    state = "a new commit" if made.changed else "unchanged"
    print(
        f"{made.template}: a git repository with what students get ({state}); nothing hidden in it"
    )
    print("push it, switch `Template repository` on, and name it in the assignment")
    print(f"{made.bundle}: for CLASSROOM/autograders/ of Classroom 50's configuration repository")
    print(
        "their scores show the public checks. For the grade: "
        f"autograder collect {week.name} --git ROSTER --repositories 'https://github.com/ORG/"
        f"{week.name}-{{username}}.git', then autograder grade {week.name}"
    )


def run_collect_git(
    course: Course, week: Week, roster: Path, where: str | None, *, newest: bool
) -> bool:
    """Collect from repositories; return whether nothing needs a look."""
    repositories = read_repositories(roster, where)
    _, entries = read_gradebook(course)
    extended = {e.student: e.extension for e in entries if e.week == week.name}
    columns = TextColumn("repositories"), BarColumn(), TimeElapsedColumn()
    with bar(*columns) as progress:
        task = progress.add_task("", total=len(repositories))
        found = collect_git(
            course,
            week,
            repositories,
            acceptor(course, week, "git"),
            newest=newest,
            extended=extended,
            on_done=lambda: progress.advance(task),
        )
    what = "the newest commit" if newest else "the last commit at the due date"
    print(f"collected {what} of {len(found.commits)} of {len(repositories)}")
    if grouped := spread_groups(course, week):
        print(f"laid into group members' folders: {'; '.join(grouped_lines(grouped))}")
    if found.nothing:
        print(f"nothing was committed by then: {counted(found.nothing)}")
    for student, why in found.failed.items():
        print(f"LOOK  {student}: {why}")
    for note in found.notes:
        print(f"LOOK  {note}")
    if found.commits:
        print("the dates are those of the commits, which students' own machines write")
    return not (found.failed or found.notes)
