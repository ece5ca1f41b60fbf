"""A released solution beside the student's own, with what differs.

Nothing of a solution is in a week or in what students install: it comes when the instructor
releases `<week>-solutions`, by nbgrader or as files, and is read from there.
"""

from __future__ import annotations

import ast
import io
import shutil
import subprocess
import sys
import zipfile
from difflib import SequenceMatcher
from pathlib import Path

import msgspec

from ...model.errors import KitError
from ..folder.source import Definition, span, used
from ..folder.week import DESCRIPTION, SUFFIX_OF_SOLUTIONS, WeekFile, WeekFolder
from .contrast import contrasts

MISTAKES = "MISTAKES.md"
_MOST_BYTES = 4_000_000  # of a file in a zip


class Beside(msgspec.Struct, frozen=True):
    """An exercise twice: what one wrote and the solution, and what is to be said of them.

    rows: a line of one's own, whether it differs, and the solution's line beside it
    """

    heading: str
    line: int
    rows: tuple[tuple[str, bool, str], ...]
    said: tuple[str, ...]
    mistakes: tuple[str, ...]


class Solved(msgspec.Struct, frozen=True):
    """A released solution: its module, and the common mistakes by exercise."""

    source: str
    mistakes: str


def beside(folder: WeekFolder, exercise: str, place: Path | None = None) -> Beside:
    """One's own version and the solution; raises KitError while there is none."""
    folder.exercise(exercise)
    solved = find_solution(folder, place)
    mine = _piece(folder.source(), exercise)
    theirs = _piece(solved.source, exercise)
    if theirs is None:
        raise KitError(f"the solution of {folder.heading} that is here has no {exercise}")
    helpers = _helpers(solved.source, exercise, folder.names)
    texts = (mine[1] if mine else "", theirs[1])
    if mine and ast.get_docstring(mine[2]) == ast.get_docstring(theirs[2]):
        texts = _first_line(*mine), _first_line(*theirs)
    return Beside(
        heading=f"{exercise} · {folder.heading}",
        line=mine[0] if mine else 0,
        rows=tuple(_rows(texts[0], texts[1] + helpers)),
        said=tuple(_said(mine, theirs, exercise)),
        mistakes=tuple(_mistakes(solved.mistakes, exercise)),
    )


def find_solution(folder: WeekFolder, place: Path | None = None) -> Solved:
    """The released solution: where it is said to be, beside the week, or fetched by nbgrader."""
    name = f"{folder.week.week}{SUFFIX_OF_SOLUTIONS}"
    if place is not None:
        return _zipped(place, folder) if place.suffix == ".zip" else _read(place, folder)
    for near in (folder.path.parent / name, folder.path / name):
        if near.is_dir():
            return _read(near, folder)
    if _fetched(name, folder.path.parent):
        return _read(folder.path.parent / name, folder)
    raise KitError(
        f"the solutions of {folder.heading} are not here. Your instructor releases them once "
        f"nobody can hand in without losing points any more; the week is due "
        f"{folder.week.due:%A %d %B}. If they are out, put the folder {name} beside "
        f"{folder.path.name}, or name it with --from"
    )


def _read(place: Path, folder: WeekFolder) -> Solved:
    try:
        described = (place / DESCRIPTION).read_bytes()
        source = (place / folder.week.module).read_text(encoding="utf-8")
        notes = place / MISTAKES
        mistakes = notes.read_text(encoding="utf-8") if notes.is_file() else ""
    except (OSError, UnicodeDecodeError):
        raise KitError(f"{place.name} is no folder of released solutions") from None
    return _checked(described, source, mistakes, place.name, folder)


def _zipped(place: Path, folder: WeekFolder) -> Solved:
    wanted = (DESCRIPTION, folder.week.module, MISTAKES)
    found: dict[str, bytes] = {}
    try:
        with zipfile.ZipFile(io.BytesIO(place.read_bytes())) as archive:
            for info in archive.infolist():
                name = info.filename.rpartition("/")[2]
                depth = info.filename.count("/")
                if name in wanted and depth < 2 and info.file_size < _MOST_BYTES:
                    found[name] = archive.read(info)
        source, mistakes = found[folder.week.module].decode(), found.get(MISTAKES, b"").decode()
    except (OSError, KeyError, zipfile.BadZipFile, UnicodeDecodeError):
        raise KitError(f"{place.name} is no zip of released solutions") from None
    return _checked(found.get(DESCRIPTION, b""), source, mistakes, place.name, folder)


def _checked(described: bytes, source: str, mistakes: str, name: str, folder: WeekFolder) -> Solved:
    try:
        week = msgspec.json.decode(described, type=WeekFile).week
        ast.parse(source)
    except (msgspec.MsgspecError, SyntaxError, ValueError):
        raise KitError(f"{name} holds no released solutions, or they are damaged") from None
    if week != folder.week.week:
        raise KitError(f"{name} holds {week}, not {folder.week.week}")
    return Solved(source, mistakes)


def _fetched(name: str, where: Path) -> bool:
    """Have nbgrader fetch it, if it is installed and the exchange has it."""
    beside_python = str(Path(sys.executable).parent)
    program = shutil.which("nbgrader", path=beside_python) or shutil.which("nbgrader")
    if program is None:
        return False
    done = subprocess.run(
        [program, "fetch_assignment", name], cwd=where, capture_output=True, check=False
    )
    return done.returncode == 0 and (where / name).is_dir()


def _piece(source: str, exercise: str) -> tuple[int, str, Definition] | None:
    """A definition of a module: its first line, its text, and its tree with the module's lines."""
    try:
        tree, place = ast.parse(source), span(source, exercise)
    except (SyntaxError, ValueError) as error:
        raise KitError(f"Python cannot read your file: {error}") from None
    if place is None:
        return None
    nodes = [n for n in tree.body if getattr(n, "name", "") == exercise]
    text = "\n".join(source.split("\n")[place[0] - 1 : place[1]])
    return place[0], text, nodes[-1]  # type: ignore[return-value]  # a definition, by its name


def _first_line(start: int, text: str, node: Definition) -> str:
    """A definition with the first line alone of its docstring, which is the stub's."""
    doc = node.body[0]
    if ast.get_docstring(node) is None or doc.end_lineno is None:
        return text
    lines, first, last = text.split("\n"), doc.lineno - start, doc.end_lineno - start
    if last - first < 2:
        return text
    return "\n".join(
        [*lines[: first + 1], " " * doc.col_offset + "..." + lines[last][-3:], *lines[last + 1 :]]
    )


def _helpers(source: str, exercise: str, exercises: tuple[str, ...]) -> str:
    """What the solution's exercise uses of its module and is no exercise."""
    tree = ast.parse(source)
    names = tuple(getattr(n, "name", "") for n in tree.body)
    found = [n for n in used(source, exercise, names) if n and n not in exercises]
    pieces = [p[1] for n in found if (p := _piece(source, n))]
    return "".join(f"\n\n\n{p}" for p in pieces)


def _rows(mine: str, theirs: str) -> list[tuple[str, bool, str]]:
    left, right = (t.split("\n") if t else [] for t in (mine, theirs))
    keys = [[line.strip() for line in lines] for lines in (left, right)]
    rows: list[tuple[str, bool, str]] = []
    for tag, i, j, k, m in SequenceMatcher(None, keys[0], keys[1], autojunk=False).get_opcodes():
        for n in range(max(j - i, m - k)):
            a = left[i + n] if i + n < j else ""
            b = right[k + n] if k + n < m else ""
            rows.append((a, tag != "equal" and bool(a.strip() or b.strip()), b))
    return rows


def _said(
    mine: tuple[int, str, Definition] | None, theirs: tuple[int, str, Definition], exercise: str
) -> list[str]:
    if mine is None or f'NotImplementedError("{exercise}' in mine[1]:
        return ["You have not written it, so there is nothing to compare."]
    return contrasts(mine[2], theirs[2])


def _mistakes(text: str, exercise: str) -> list[str]:
    """The lines on an exercise in the page of common mistakes."""
    found, inside = [], False
    for line in text.split("\n"):
        if line.startswith("## "):
            inside = line[3:].strip() == exercise
        elif inside and line.startswith("- "):
            found.append(line[2:].replace("**", ""))
    return found
