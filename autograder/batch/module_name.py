"""Find the week's module in a submission, even if it was renamed or saved as UTF-16."""

import codecs
import re
from collections.abc import Iterable
from pathlib import PurePosixPath

from ..model.course import Week
from ..model.submission_files import Files, Note

_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def with_module(files: Files, week: Week) -> tuple[dict[str, bytes], tuple[Note, ...]]:
    """Rename the week's module and convert it to UTF-8 if needed; return the files and notes.

    If no file has the module's name and only one Python file defines exercises of the week, that
    file, for example `lines (1).py` or `lines.py.txt`, is renamed. If several files define
    exercises, the student has to choose, so the files keep their names.
    """
    found = dict(files)
    notes = []
    if not any(PurePosixPath(name).name == week.module for name in found):
        candidates = module_candidates(found, week)
        if len(candidates) == 1:
            path = PurePosixPath(candidates[0])
            found[str(path.with_name(week.module))] = found.pop(candidates[0])
            shown = "".join(c if c.isprintable() else "�" for c in path.name)[:80]
            text = f"'{shown}' was taken as {week.module}. Keep that name."
            notes.append(Note("module", text))
    for name, content in list(found.items()):
        converted = as_utf8(content) if PurePosixPath(name).name == week.module else content
        if converted != content:
            found[name] = converted
            text = f"{week.module} was saved as UTF-16 and was converted. Save it as UTF-8."
            notes.append(Note("module", text))
    return found, tuple(notes)


def folders_with(files: Iterable[str], name: str) -> list[PurePosixPath]:
    """Return the folders that contain a file with this name, outermost first."""
    found = (PurePosixPath(n).parent for n in files if PurePosixPath(n).name == name)
    return sorted(found, key=lambda p: (len(p.parts), str(p)))


def files_in(files: Files, folder: PurePosixPath) -> dict[str, bytes]:
    """Return the files below a folder, by path relative to that folder."""
    pairs = [(PurePosixPath(name), content) for name, content in files.items()]
    return {p.relative_to(folder).as_posix(): c for p, c in pairs if p.is_relative_to(folder)}


def module_candidates(files: Files, week: Week) -> list[str]:
    """Return the names of Python files that define an exercise of the week at the top level."""
    names = "|".join(re.escape(e.name) for e in week.exercises)
    defines = re.compile(rf"^(?:def|class)[ \t]+(?:{names})\b", re.MULTILINE)
    return [
        name
        for name, content in files.items()
        if name.lower().endswith((".py", ".py.txt"))
        and defines.search(as_utf8(content).decode("utf-8", "replace"))
    ]


def as_utf8(content: bytes) -> bytes:
    """Convert UTF-16 with a byte order mark to UTF-8; return other content unchanged."""
    if not content.startswith(_UTF16):
        return content
    try:
        return content.decode("utf-16").encode()
    except UnicodeError:
        return content
