"""Find and read the released solution of a week.

Neither the week's folder nor the students' installation contains a solution. It arrives when the
instructor releases `<week>-solutions`, through nbgrader or as files.
"""

from __future__ import annotations

import ast
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import msgspec

from ...model.errors import KitError
from .week import DESCRIPTION, SUFFIX_OF_SOLUTIONS, WeekFile, WeekFolder

MISTAKES = "MISTAKES.md"
_MAX_BYTES = 4_000_000  # of a file in a zip


class ReleasedSolution(msgspec.Struct, frozen=True):
    """The source of the solved module, and the page of common mistakes in Markdown."""

    source: str
    mistakes: str

    def mistakes_in(self, exercise: str) -> tuple[str, ...]:
        """Return the bullet points on an exercise from the page of common mistakes."""
        for section in self.mistakes.split("\n## ")[1:]:
            heading, *lines = section.split("\n")
            if heading.strip() == exercise:
                return tuple(x[2:].replace("**", "") for x in lines if x.startswith("- "))
        return ()


def find_solution(folder: WeekFolder, place: Path | None = None) -> ReleasedSolution:
    """Read the solution from `place` (a folder or zip), from next to the week, or from nbgrader.

    Raises KitError if it has not been released or belongs to a different week.
    """
    name = f"{folder.week.week}{SUFFIX_OF_SOLUTIONS}"
    if place is not None:
        return _checked(_from_zip(place) if place.suffix == ".zip" else _from_folder(place), folder)
    for candidate in (folder.path.parent / name, folder.path / name):
        if candidate.is_dir():
            return _checked(_from_folder(candidate), folder)
    if _fetched(name, folder.path.parent):
        return _checked(_from_folder(folder.path.parent / name), folder)
    raise KitError(
        f"the solutions of {folder.heading} have not been released yet, or are not here. Your "
        "instructor releases them when nobody can submit for full points any more; the week is due "
        f"{folder.week.due:%A %d %B}. If you have them, put the folder {name} next to "
        f"{folder.path.name}, or name it with --from"
    )


def _from_folder(place: Path) -> dict[str, bytes]:
    try:
        return {
            p.name: p.read_bytes() for p in place.iterdir() if p.suffix in (".py", ".json", ".md")
        }
    except OSError:
        raise KitError(f"{place} is not a folder of released solutions") from None


def _from_zip(place: Path) -> dict[str, bytes]:
    try:
        with zipfile.ZipFile(place) as archive:
            return {
                info.filename.rpartition("/")[2]: archive.read(info)
                for info in archive.infolist()
                if info.filename.count("/") < 2 and info.file_size < _MAX_BYTES
            }
    except (OSError, zipfile.BadZipFile):
        raise KitError(f"{place} is not a zip of released solutions") from None


def _checked(files: dict[str, bytes], folder: WeekFolder) -> ReleasedSolution:
    try:
        week = msgspec.json.decode(files[DESCRIPTION], type=WeekFile).week
        source = files[folder.week.module].decode()
        ast.parse(source)
        mistakes = files.get(MISTAKES, b"").decode()
    except (KeyError, msgspec.MsgspecError, SyntaxError, ValueError):
        raise KitError("there is no released solution in it, or its files are damaged") from None
    if week != folder.week.week:
        raise KitError(f"these are the solutions of {week}, not of {folder.week.week}")
    return ReleasedSolution(source, mistakes)


def _fetched(name: str, parent: Path) -> bool:
    """Fetch the solutions into `parent` with nbgrader; return whether that worked."""
    next_to_python = str(Path(sys.executable).parent)
    program = shutil.which("nbgrader", path=next_to_python) or shutil.which("nbgrader")
    if program is None:
        return False
    done = subprocess.run(
        [program, "fetch_assignment", name], cwd=parent, capture_output=True, check=False
    )
    return done.returncode == 0 and (parent / name).is_dir()
