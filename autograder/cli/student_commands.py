"""The students' commands: check, hint, watch, progress, reset, submit and solution."""

from pathlib import Path
from typing import Annotated, Any

from typer import Argument, Option

from ..model.errors import KitError
from .app import flag, student_command

FolderOption = Annotated[Path | None, Option(help="A week's folder; default: the current folder.")]
JsonOption = Annotated[bool, flag("json", "Print only the verdicts, as a JSON object.")]
SecondsOption = Annotated[float, Option(min=1, help="Time limit for each check.")]


def _complete_exercise(incomplete: str) -> list[str]:
    from ..student.folder.week import open_folder

    try:
        return [n for n in open_folder().names if n.startswith(incomplete)]
    except KitError:
        return []


def _exercise(help: str) -> Any:
    return Argument(help=help, autocompletion=_complete_exercise)


ExerciseArgument = Annotated[str | None, _exercise("An exercise; default: all.")]


@student_command
def check(
    exercise: ExerciseArgument = None,
    folder: FolderOption = None,
    seconds: SecondsOption = 20.0,
    as_json: JsonOption = False,
) -> bool:
    """Run the public checks on your file; exit code 0 if all pass, 1 if not.

    To check a project folder that combines several weeks, use its name: `autograder check
    capstone`.

    Example: autograder check mean_pool
    """
    from ..student.checks.stages import run_stages, staged_folder

    stages = staged_folder(exercise, folder) if exercise else None
    if stages is not None and not as_json:
        return run_stages(stages, folder)
    from ..student.commands.check import check_week
    from ..student.folder.week import open_folder
    from ..student.show.check_text import console, show
    from ..terminal.console import Terminal

    opened = open_folder(folder)
    names = [opened.exercise(exercise).name] if exercise else opened.names
    with Terminal(stderr=True).status("  checking", spinner="line"):
        result = check_week(opened, names, seconds=seconds)
    if as_json:
        from ..student.show.verdict_json import public_verdicts

        print(public_verdicts(opened, result).text())
    else:
        show(console(), result)
    return result.passed


@student_command
def hint(
    exercise: Annotated[str | None, _exercise("An exercise; default: the next to work on.")] = None,
    again: Annotated[bool, Option(help="Show only the hints that you have seen.")] = False,
    folder: FolderOption = None,
) -> bool:
    """Show the hints that you have seen and the next, more concrete hint.

    Example: autograder hint mean_pool
    """
    from ..student.folder.lessons import hints_to_show
    from ..student.folder.week import open_folder
    from ..student.show.check_text import console, hint_lines, layout_of, next_to_do

    opened = open_folder(folder)
    name = opened.exercise(exercise).name if exercise else next_to_do(opened)
    hints, message = hints_to_show(opened, name, again)
    out = console()
    for shown in hints:
        out.print(*hint_lines(shown, layout_of(out).width), sep="\n")
    if message:
        out.print(message)
    return again or not message


@student_command
def watch(
    exercise: ExerciseArgument = None, folder: FolderOption = None, seconds: SecondsOption = 20.0
) -> None:
    """Run the public checks after each save until Ctrl-C is pressed.

    Example: autograder watch
    """
    import signal
    from contextlib import closing, suppress

    from watchfiles import Change
    from watchfiles import watch as watch_files

    from ..student.checks.launcher import WarmPython
    from ..student.commands.check import check_week
    from ..student.folder.week import open_folder
    from ..student.show.check_text import console, show

    opened = open_folder(folder)
    names = (opened.exercise(exercise).name,) if exercise else opened.names
    opened.source()  # raises KitError if the file is missing
    # restore the default, because shells start background jobs with SIGINT ignored
    signal.signal(signal.SIGINT, signal.default_int_handler)
    out = console()

    def check_again(python: WarmPython) -> None:
        out.print("checking ...", style="dim")
        try:
            result = check_week(opened, names, seconds=seconds, warm=python)
        except KitError as error:  # the file is missing for a moment while some editors save it
            out.print(str(error))
            return
        if out.is_terminal:
            out.clear()
        show(out, result)
        out.print("\nwaiting for you to save; Ctrl-C quits", style="dim")

    saves = watch_files(
        opened.path,
        watch_filter=lambda change, path: path.endswith(".py") and change is not Change.deleted,
        recursive=False,
        rust_timeout=150,
        yield_on_timeout=True,
        raise_interrupt=True,
    )
    # WarmPython imports torch for the next check while the student reads the result
    with closing(WarmPython(opened)) as python, suppress(KeyboardInterrupt):
        next(saves)  # starts watching, so that a save during the first check is noticed
        check_again(python)
        for changes in saves:
            if changes:
                check_again(python)


@student_command
def progress(
    folder: Annotated[
        Path | None,
        Option(help="The folder with your weeks; default: the current folder, or its parent."),
    ] = None,
) -> None:
    """Show your points in every week and exercise, from the results of the last checks.

    Example: autograder progress
    """
    from ..student.folder.week import open_all
    from ..student.show.check_text import console, layout_of, progress_lines, week_progress

    weeks = open_all(folder)
    if not weeks:
        raise KitError("there is no week of the course here: `cd` to the folder with your weeks")
    out = console()
    out.print(*progress_lines([week_progress(w) for w in weeks], layout_of(out)), sep="\n")


@student_command
def reset(
    exercise: Annotated[str | None, _exercise("An exercise.")] = None,
    everything: Annotated[bool, flag("all", "Restore the whole file.")] = False,
    folder: FolderOption = None,
) -> None:
    """Restore the stub of an exercise, after saving your file in the folder `kept`.

    Example: autograder reset mean_pool
    """
    from ..student.folder.source import restore_stub
    from ..student.folder.week import open_folder

    if (exercise is None) != everything:
        raise KitError("name an exercise to reset, or use --all for the whole file")
    opened = open_folder(folder)
    backup = restore_stub(opened, exercise)
    what = opened.week.module if exercise is None else f"{exercise} in {opened.week.module}"
    print(f"{what} is restored to its stub.")
    if backup:
        print(f"Your previous file: {backup.relative_to(opened.path).as_posix()}")


@student_command
def submit(
    week: Annotated[
        str | None, Argument(help="A week: its name or number; default: the current folder.")
    ] = None,
    to: Annotated[str, Option(help="The service's URL; default: the one of the week.")] = "",
    exchange: Annotated[
        bool, flag("exchange", "Submit through nbgrader, even if the course has a service.")
    ] = False,
    no_check: Annotated[bool, flag("no-check", "Do not run the public checks first.")] = False,
    no_wait: Annotated[bool, flag("no-wait", "Do not wait for the result.")] = False,
    yes: Annotated[bool, Option("--yes", "-y", help="Submit without confirmation.")] = False,
    folder: FolderOption = None,
    as_json: JsonOption = False,
) -> bool:
    """Check a week, show the changes, and submit it; exit code 1 if a check fails.

    Example: autograder submit
    Example: autograder submit week01 --to https://grade.example.org/
    """
    from ..student.commands import submit
    from ..student.folder.packing import pack
    from ..student.show.check_text import console

    opened, out = submit.find_week_folder(week, folder), console(stderr=as_json)
    goal = submit.destination(opened, "" if exchange else to or opened.week.hand_in)
    parcel = pack(opened)
    checked = None if no_check else submit.run_public_checks(out, opened)
    for note in parcel.notes:
        out.print(f"LOOK  {note}")
    if isinstance(goal, str):
        reply = submit.send_to_exchange(out, opened, parcel, goal, confirm=not yes)
    else:
        reply = submit.send_to_service(out, opened, parcel, goal, confirm=not yes, wait=not no_wait)
    if as_json:
        from ..student.show.verdict_json import submission_verdicts

        print(submission_verdicts(opened, checked, reply, parcel.notes).text())
    return not (checked and checked.unfinished) and not parcel.notes


@student_command
def solution(
    exercise: Annotated[str, _exercise("An exercise.")],
    source: Annotated[
        Path | None,
        Option("--from", help="The folder of the released solutions; default: next to the week."),
    ] = None,
    folder: FolderOption = None,
) -> None:
    """Show the differences between your version of an exercise and the released solution.

    Solutions are released when submissions no longer earn full points.

    Example: autograder solution mean_pool
    """
    from ..student.folder.week import open_folder
    from ..student.show.check_text import console
    from ..student.show.solution import compare_with_solution

    console().print(*compare_with_solution(open_folder(folder), exercise, source), sep="\n")
