"""Releasing a week: from the project's folders through nbgrader into the exchange."""

from __future__ import annotations

import datetime as dt
import os
import shutil
import stat
from dataclasses import dataclass, field
from pathlib import Path

from ...authoring.lesson.embedded_week import built_wheel, carried, zipped
from ...authoring.lesson.handout import read_or_refuse, week_files
from ...authoring.lesson.leak_check import check_files, check_folder, secrets_of
from ...files.atomic import replace_file
from ...model.course.loader import Course, Week
from ...model.errors import LeakError, NbgraderError
from ..gradebook.rebuild import enter_assignment
from ..workspace import Workspace, open_api, require
from .archive import keep_release
from .extensions import unknown_extensions
from .rerelease import CHANGES, changed_files, changes_page, current_release, with_old_one


@dataclass(frozen=True)
class Released:
    """What was released: the files that students get, and where the exchange has them."""

    files: list[str]
    outbound: Path
    notes: list[str] = field(default_factory=list)  # what is to be looked at
    beside: str = ""  # the name under which whoever has the former one fetches it
    old: list[str] = field(default_factory=list)  # who handed in what was made from a former one
    bundle: Path = Path()  # the week as one file, for Colab, Kaggle and learning platforms
    wheel: bool = False  # whether the kit is in it


def release(
    course: Course,
    week: Week,
    *,
    early: bool = False,
    again: bool = False,
    now: dt.datetime | None = None,
) -> Released:
    """Make the week's source folder, check it, and hand it to nbgrader.

    Raises LeakError before anything is written where a secret would leave, and NbgraderError
    before the week's release date unless `early`. A second release replaces the first; what
    students fetched already stays as it is. `again` makes the new one fetchable beside that.
    """
    now = now or dt.datetime.now(dt.UTC)
    _check_date(course, week, early, now)
    workspace = Workspace(course)
    number = max(1, current_release(workspace, week))
    files = carried(course, week, week_files(course, week, number + again))
    if again:
        files[CHANGES] = _changes(workspace, week, files, number + 1)
    elif number > 1:
        files[CHANGES] = read_or_refuse(
            course, workspace.source(week) / CHANGES, "release --again made it"
        )
    secrets = secrets_of(course, week)
    check_files(files, secrets, f"source/{week.name}")
    workspace.make()
    replace_folder(workspace.source(week), files)
    enter_assignment(course, week)
    check_folder(workspace.released(week), secrets, files)
    hand_out(course, week.name)
    try:
        check_folder(workspace.outbound(week), secrets, files)
    except LeakError:
        shutil.rmtree(workspace.outbound(week))
        raise
    wheel = built_wheel(course)
    bundle = workspace.bundle(week)
    bundle.parent.mkdir(exist_ok=True)
    replace_file(bundle, zipped(week, files, wheel, secrets), 0o644)
    notes = [*_past(course, week, now), *unknown_extensions(course, week)]
    number += again
    keep_release(course, week, number)
    if number == 1:
        return Released(
            sorted(files), workspace.outbound(week), notes, "", [], bundle, wheel is not None
        )
    beside = workspace.outbound(week).with_name(f"{week.name}-{number}")
    shutil.rmtree(beside, ignore_errors=True)
    shutil.copytree(workspace.outbound(week), beside)
    old = with_old_one(course, week, number)
    return Released(
        sorted(files), workspace.outbound(week), notes, beside.name, old, bundle, wheel is not None
    )


def _changes(workspace: Workspace, week: Week, files: dict[str, bytes], number: int) -> bytes:
    """CHANGES.md for students; raises NbgraderError if there is nothing to tell them."""
    old = workspace.source(week)
    if not workspace.outbound(week).is_dir() or not old.is_dir():
        raise NbgraderError(
            f"{week.name} was not released yet, so not again: `autograder release {week.name}`"
        )
    if not changed_files(old, files):
        raise NbgraderError(
            f"nothing that students get of {week.name} has changed since it was released; mended "
            f"hidden tests need no release: `autograder regrade {week.name} --preview`"
        )
    return changes_page(week, old, files, number).encode()


def _past(course: Course, week: Week, now: dt.datetime) -> list[str]:
    due = course.localized(week.due)
    if now < due:
        return []
    number = course.weeks.index(week)
    return [
        f"course.yaml: weeks[{number}].due: {due:%A %d %B %Y, %H:%M} is past, so all that is "
        "handed in is late: if that is not meant, mend it; nothing has to be released again"
    ]


def _check_date(course: Course, week: Week, early: bool, now: dt.datetime) -> None:
    moment = course.localized(week.release)
    if now < moment and not early:
        raise NbgraderError(
            f"{week.name} is to be released on {moment:%A %d %B %Y, %H:%M} ({course.zone}): "
            "wait, change course.yaml, or say --early"
        )


def replace_folder(folder: Path, files: dict[str, bytes]) -> None:
    """Make the folder hold these files and no others; it appears as a whole."""
    fresh = folder.with_name(f".{folder.name}.new")
    shutil.rmtree(fresh, ignore_errors=True)
    for name, content in files.items():
        path = fresh / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    shutil.rmtree(folder, ignore_errors=True)
    fresh.replace(folder)


def hand_out(course: Course, name: str) -> None:
    """Put release/<name> into the exchange, by nbgrader; what was there is replaced."""
    from nbgrader.utils import capture_log, temp_attrs

    api = open_api(course)
    with temp_attrs(api.coursedir, assignment_id=name):
        handing = api.exchange.ReleaseAssignment(
            coursedir=api.coursedir, authenticator=api.authenticator, parent=api
        )
        handing.force = True
        require(capture_log(handing), f"release_assignment {name}")
    _only_owners_rename(Workspace(course).exchange, course.id)


def _only_owners_rename(exchange: Path, course_id: str) -> None:
    """Everybody may write to these two folders: the sticky bit keeps them from others' entries.

    Without it a student could put a folder of their own in the place of the course, or remove a
    submission whose name they know.
    """
    for folder in (exchange, exchange / course_id / "inbound"):
        if folder.stat().st_uid == os.geteuid():
            folder.chmod(stat.S_IMODE(folder.stat().st_mode) | stat.S_ISVTX)
