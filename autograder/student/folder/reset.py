"""Giving a stub back without losing what stood there."""

from __future__ import annotations

import datetime as dt
import os
from pathlib import Path

from ...model.errors import KitError
from .source import span
from .week import WeekFolder

KEPT = "kept"


def reset_exercise(folder: WeekFolder, name: str, now: dt.datetime | None = None) -> Path | None:
    """Put back the stub of one exercise; returns where the old file is kept."""
    folder.exercise(name)
    stub, source = _stub(folder), folder.source()
    wanted = span(stub, name)
    if wanted is None:
        raise KitError(f"the week's stub has no {name}: take it from the folder as handed out")
    try:
        found = span(source, name)
    except (SyntaxError, ValueError) as error:
        raise KitError(
            f"Python cannot read {folder.week.module} ({error}), so the place of {name} is not "
            "known: correct that line, or `autograder reset --all` resets the whole file"
        ) from None
    piece = stub.split("\n")[wanted[0] - 1 : wanted[1]]
    lines = source.split("\n")
    if found:
        new = [*lines[: found[0] - 1], *piece, *lines[found[1] :]]
    else:
        new = [*"\n".join(lines).rstrip("\n").split("\n"), "", "", *piece, ""]
    return _replace(folder, "\n".join(new), now)


def reset_all(folder: WeekFolder, now: dt.datetime | None = None) -> Path | None:
    """Put back the whole stub; returns where the old file is kept, None if there was none."""
    return _replace(folder, _stub(folder), now)


def _stub(folder: WeekFolder) -> str:
    if not folder.week.stub:
        raise KitError(f"{folder.path.name} holds no stub: take it from the folder as handed out")
    return folder.week.stub


def _replace(folder: WeekFolder, text: str, now: dt.datetime | None) -> Path | None:
    kept = _keep(folder, now or dt.datetime.now()) if folder.module.exists() else None
    temporary = folder.module.with_name(f".{folder.week.module}.new")
    try:
        temporary.write_text(text, encoding="utf-8")
        os.replace(temporary, folder.module)
    except OSError as error:
        raise KitError(f"{folder.week.module} cannot be written: {error.strerror}") from None
    return kept


def _keep(folder: WeekFolder, now: dt.datetime) -> Path:
    """Copy the file byte for byte under a name with the date that is not taken."""
    stem = f"{folder.stem}_{now:%Y-%m-%d_%H%M%S}"
    place = folder.path / KEPT
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
            f"{KEPT}/ cannot be written, so nothing was reset: {error.strerror}"
        ) from None
    raise KitError(f"{KEPT}/ holds too many copies of {stem}: clear it first")
