"""Release a week to students through nbgrader's exchange."""

import datetime as dt
import os
import shutil
import stat
from pathlib import Path

import msgspec

from ...authoring.lesson import handout, leak_check
from ...files import replace_file, replace_folder
from ...model.course import Course, Week
from ...model.errors import LeakError, NbgraderError
from ..collect.groups import unknown_students
from ..gradebook.due_dates import enter_assignment
from ..workspace import Workspace, exchange_step, open_api, require
from .archive import CHANGES, changed_files, changes_page, current_release, keep_release


class Released(msgspec.Struct, frozen=True):
    """The result of releasing a week or its solutions."""

    files: list[str]
    folder: Path  # the week's folder in the exchange, or the solutions' folder in release/
    notes: list[str] = []  # warnings
    second_name: str = ""  # for students who have fetched an earlier release
    bundle: Path = Path()  # a zip file for Colab, Kaggle and learning platforms
    wheel: bool = False  # True if the bundle contains the kit


def release(
    course: Course,
    week: Week,
    *,
    early: bool = False,
    again: bool = False,
    now: dt.datetime | None = None,
) -> Released:
    """Create the week's source folder, check it, and release it with nbgrader.

    A second release replaces the first one in the exchange, but not the copies that students have
    already fetched. Raise LeakError if a file contains a secret: all files are checked before any
    is written, and again after nbgrader has copied them. Raise NbgraderError before the week's
    release date, or if `again` is set and no file has changed.

    early: allow a release before that date. again: also publish the release under a second name,
    for students who have already fetched an earlier release.
    """
    now = now or dt.datetime.now(dt.UTC)
    opens = course.localized(week.release)
    if now < opens and not early:
        raise NbgraderError(
            f"{week.name} is scheduled for {opens:%A %d %B %Y, %H:%M} ({course.zone}): "
            "wait, change course.yaml, or use --early"
        )
    workspace = Workspace(course)
    number = max(1, current_release(workspace, week))
    files = handout.embed_week(course, week, handout.week_files(course, week, number + again))
    if again:
        files[CHANGES] = _changes(workspace, week, files, number + 1)
    elif number > 1:
        earlier_changes = workspace.source(week) / CHANGES
        files[CHANGES] = handout.read_or_refuse(course, earlier_changes, "release --again made it")
    secrets = leak_check.secrets_of(course, week)
    leak_check.require_undisclosed(course, week)
    leak_check.check_files(files, secrets, f"source/{week.name}")
    workspace.make()
    replace_folder(workspace.source(week), files)
    enter_assignment(course, week)
    leak_check.check_folder(workspace.released(week), secrets, files)
    publish_in_exchange(course, week.name, secrets, files)
    wheel = handout.built_wheel(course)
    bundle = workspace.bundle(week)
    bundle.parent.mkdir(exist_ok=True)
    replace_file(bundle, handout.zip_week(week, files, wheel, secrets), 0o644)
    notes = [*_past(course, week, now), *unknown_students(course, week)]
    number += again
    keep_release(course, week, number)
    outbound = workspace.outbound(week)
    second_name = f"{week.name}-{number}" if number > 1 else ""
    if second_name:
        copy = outbound.with_name(second_name)
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(outbound, copy)
    return Released(sorted(files), outbound, notes, second_name, bundle, wheel is not None)


def _changes(workspace: Workspace, week: Week, files: dict[str, bytes], number: int) -> bytes:
    """Return the content of CHANGES.md; raise NbgraderError if no released file has changed."""
    require_outbound(workspace, week)
    old = workspace.source(week)
    if not changed_files(old, files):
        raise NbgraderError(
            f"no file that students get has changed since {week.name} was released; fixed hidden "
            f"tests need no release: run `autograder regrade {week.name} --preview`"
        )
    return changes_page(week, old, files, number).encode()


def require_outbound(workspace: Workspace, week: Week) -> None:
    """Raise NbgraderError if the week is not in the exchange, or has no source folder."""
    if not (workspace.outbound(week).is_dir() and workspace.source(week).is_dir()):
        raise NbgraderError(
            f"{week.name} has not been released yet: run `autograder release {week.name}` first"
        )


def _past(course: Course, week: Week, now: dt.datetime) -> list[str]:
    """Return a list with a warning if the due date has passed, otherwise an empty list."""
    due = course.localized(week.due)
    if now < due:
        return []
    number = course.weeks.index(week)
    return [
        f"course.yaml: weeks[{number}].due: {due:%A %d %B %Y, %H:%M} has passed, so all "
        "submissions are late. If that is wrong, correct the date; you need not release the week "
        "again"
    ]


def publish_in_exchange(
    course: Course, name: str, secrets: tuple[leak_check.Secret, ...], files: dict[str, bytes]
) -> None:
    """Copy release/<name> to the exchange with nbgrader, replacing an earlier release.

    If the copy contains a secret or differs from `files`, remove it and raise LeakError.
    """
    attributes = {"assignment_id": name}
    _, result = exchange_step(open_api(course), "ReleaseAssignment", attributes, force=True)
    require(result, f"release_assignment {name}")
    exchange = Workspace(course).exchange
    _protect_entries(exchange, course.id)
    outbound = exchange / course.id / "outbound" / name
    try:
        leak_check.check_folder(outbound, secrets, files)
    except LeakError:
        shutil.rmtree(outbound)
        raise


def _protect_entries(exchange: Path, course_id: str) -> None:
    """Set the sticky bit on the two folders that all users can write to, if we own them.

    Without the sticky bit, a student could replace the course's folder, or delete a submission
    whose file name is known.
    """
    for folder in (exchange, exchange / course_id / "inbound"):
        if folder.stat().st_uid == os.geteuid():
            folder.chmod(stat.S_IMODE(folder.stat().st_mode) | stat.S_ISVTX)
