"""Restore stubs; the student's file is saved in the folder `kept` first."""

from __future__ import annotations

import datetime as dt
import shutil
from pathlib import Path

from ...files import replace_file
from ...model.errors import KitError
from .source import span
from .week import WeekFolder

BACKUPS = "kept"


def reset_exercise(folder: WeekFolder, name: str, now: dt.datetime | None = None) -> Path | None:
    """Restore the stub of one exercise; return the path of the backup."""
    folder.exercise(name)
    stub, source = _stub(folder), folder.source()
    wanted = span(stub, name)
    if wanted is None:
        raise KitError(f"the week's stub has no {name}: take it from the released folder")
    try:
        found = span(source, name)
    except (SyntaxError, ValueError) as error:
        raise KitError(
            f"Python cannot read {folder.week.module} ({error}), so {name} cannot be located: "
            "correct that line, or restore the whole file with `autograder reset --all`"
        ) from None
    stub_lines = stub.split("\n")[wanted[0] - 1 : wanted[1]]
    lines = source.split("\n")
    if found:
        lines[found[0] - 1 : found[1]] = stub_lines
    else:
        lines = [*source.rstrip("\n").split("\n"), "", "", *stub_lines, ""]
    return _replace(folder, "\n".join(lines), now)


def reset_all(folder: WeekFolder, now: dt.datetime | None = None) -> Path | None:
    """Restore the whole stub; return the path of the backup, or None if there was no file."""
    return _replace(folder, _stub(folder), now)


def _stub(folder: WeekFolder) -> str:
    if not folder.week.stub:
        raise KitError(f"{folder.path.name} contains no stub: take it from the released folder")
    return folder.week.stub


def _replace(folder: WeekFolder, text: str, now: dt.datetime | None) -> Path | None:
    """Write the module, after copying the previous file unchanged to an unused name."""
    now, backup = now or dt.datetime.now(), None
    try:
        if folder.module.exists():
            (folder.path / BACKUPS).mkdir(exist_ok=True)
            backup = _backup_path(folder, now)
            while backup.exists():
                now += dt.timedelta(seconds=1)
                backup = _backup_path(folder, now)
            shutil.copyfile(folder.module, backup)
        replace_file(folder.module, text.encode(), 0o644)
    except OSError as error:
        where = error.filename or folder.path.name
        raise KitError(f"nothing was reset: {where} cannot be written ({error.strerror})") from None
    return backup


def _backup_path(folder: WeekFolder, now: dt.datetime) -> Path:
    return folder.path / BACKUPS / f"{folder.stem}_{now:%Y-%m-%d_%H%M%S}.py"
