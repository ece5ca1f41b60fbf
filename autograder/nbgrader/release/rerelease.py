"""A week that is released again, after students fetched it.

nbgrader gives a student one copy of an assignment and refuses a second. So the mended week goes
into the exchange twice: under its own name, for whoever has not fetched it, and under another one
(`week01_softmax-2`), which can be fetched beside the first. `CHANGES.md` in it says what is new and
how to go on; nothing that a student wrote is touched. What is handed in under either name belongs
to the week.

Every folder that is handed out says in week.json which release it is.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Mapping
from pathlib import Path

from ...model.course.loader import Course, Week
from ...student.folder.week import DESCRIPTION
from ..workspace import Workspace

CHANGES = "CHANGES.md"
_SHOWN = 200  # lines of one file's changes


def copies(workspace: Workspace, week: Week) -> list[Path]:
    """The week's further copies in the exchange, the oldest first."""
    found = {}
    for path in workspace.outbound(week).parent.glob(f"{week.name}-*"):
        number = re.fullmatch(rf"{re.escape(week.name)}-(\d+)", path.name)
        if number and path.is_dir():
            found[int(number.group(1))] = path
    return [found[number] for number in sorted(found)]


def names(workspace: Workspace, week: Week) -> list[str]:
    """All names under which a week is handed in."""
    return [week.name, *(path.name for path in copies(workspace, week))]


def release_of(folder: Path) -> int:
    """Which release a folder was made from, as its week.json says; 1 if it does not say."""
    try:
        number = json.loads((folder / DESCRIPTION).read_bytes()).get("release", 1)
    except (OSError, ValueError, AttributeError, RecursionError):
        return 1
    return number if isinstance(number, int) and number > 0 else 1


def current_release(workspace: Workspace, week: Week) -> int:
    """The release that lies in the exchange; 0 if there is none."""
    folder = workspace.outbound(week)
    return release_of(folder) if folder.is_dir() else 0


def with_old_one(course: Course, week: Week, number: int) -> list[str]:
    """Who handed in what was made from an earlier release than `number`."""
    workspace = Workspace(course)
    found = {
        student
        for student in workspace.students("submitted", week)
        if release_of(workspace.submitted(student, week)) < number
    }
    inbound = workspace.exchange / course.id / "inbound"
    for name in names(workspace, week):
        for path in inbound.glob(f"*+{name}+*"):
            if release_of(path) < number:
                found.add(path.name.partition(f"+{name}+")[0])
    return sorted(found)


def changed_files(old: Path, new: Mapping[str, bytes]) -> list[str]:
    """The files that differ, are new or are gone; week.json, which differs always, is left out."""
    before = {p.relative_to(old).as_posix(): p for p in old.rglob("*") if p.is_file()}
    ours = {CHANGES, DESCRIPTION}
    return sorted(
        name
        for name in {*before, *new} - ours
        if name not in before or name not in new or before[name].read_bytes() != new[name]
    )


def changes_page(week: Week, old: Path, new: Mapping[str, bytes], number: int) -> str:
    """CHANGES.md: what is new, and how to go on with what one has."""
    changed = changed_files(old, new)
    what = f"`{week.module}` as it is handed out"
    if week.module in changed:
        module = f"{what} has changed too (see below): copy your functions into the new one."
    else:
        module = f"{what} has not changed: copy yours over the new one."
    parts = [
        f"# {week.title}: what has changed (release {number})",
        f"You may have fetched this week before. Your folder `{week.name}` is as you left it, and "
        "this folder is the mended week. To go on here:",
        f"1. {module}\n2. Copy your answers into the new notebook.\n3. Hand in this folder. What "
        "you handed in last counts, from whichever folder.",
    ]
    for name in changed:
        parts.append(f"## {name}\n\n{_difference(name, old / name, new.get(name))}")
    return "\n\n".join(parts) + "\n"


def _difference(name: str, old: Path, new: bytes | None) -> str:
    if new is None:
        return "No longer part of the week."
    if not old.is_file():
        return "New."
    if not name.endswith((".py", ".md", ".txt")):
        return "Changed."
    before, after = (
        data.decode("utf-8", "replace").splitlines() for data in (old.read_bytes(), new)
    )
    # What is gone is not repeated: a line that the stub no longer has may be a secret by now.
    found = list(difflib.unified_diff(before, after, "before", "now", lineterm="", n=2))[2:]
    lines = [line for line in found if not line.startswith("-")]
    cut = lines[:_SHOWN] + ([f"… {len(lines) - _SHOWN} lines more"] if len(lines) > _SHOWN else [])
    return "\n".join(f"    {line}" for line in cut)
