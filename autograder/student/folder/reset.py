"""Restore stubs; the student's file is saved in the folder `kept` first."""

from __future__ import annotations

import datetime as dt
import os
from pathlib import Path

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
    backup = _back_up(folder, now or dt.datetime.now()) if folder.module.exists() else None
    temporary = folder.module.with_name(f".{folder.week.module}.new")
    try:
        temporary.write_text(text, encoding="utf-8")
        os.replace(temporary, folder.module)
    except OSError as error:
        raise KitError(f"{folder.week.module} cannot be written: {error.strerror}") from None
    return backup


def _back_up(folder: WeekFolder, now: dt.datetime) -> Path:
    """Copy the file byte for byte under an unused name with the date."""
    stem = f"{folder.stem}_{now:%Y-%m-%d_%H%M%S}"
    place = folder.path / BACKUPS
    data = folder.module.read_bytes()
    try:
        place.mkdir(exist_ok=True)
        for number in range(1, 100):
            path = place / (f"{stem}.py" if number == 1 else f"{stem}_{number}.py")
            try:
                with path.open("xb") as file:
                    file.write(data)
            except FileExistsError:
                continue
            return path
    except OSError as error:
        raise KitError(
            f"{BACKUPS}/ cannot be written, so nothing was reset: {error.strerror}"
        ) from None
    raise KitError(f"{BACKUPS}/ contains too many copies of {stem}: delete some first")
