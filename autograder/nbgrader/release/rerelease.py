"""Further releases of a week that students have already fetched.

nbgrader gives a student only one copy of an assignment. So the corrected week is published twice:
under its name, for students who have not fetched it, and under a second name (`week01_softmax-2`),
which can be fetched as well. `CHANGES.md` lists the changes and explains how to continue; the
student's first folder stays unchanged. Submissions under both names count.

The file week.json in each released folder contains the number of the release.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Mapping
from pathlib import Path

from ...model.course import Week
from ...student.folder.week import DESCRIPTION
from ..workspace import Workspace

CHANGES = "CHANGES.md"


def names(workspace: Workspace, week: Week) -> list[str]:
    """Return all names under which a week can be submitted, the oldest release first."""
    found = {}
    for path in workspace.outbound(week).parent.glob(f"{week.name}-*"):
        number = re.fullmatch(rf"{re.escape(week.name)}-(\d+)", path.name)
        if number and path.is_dir():
            found[int(number.group(1))] = path.name
    return [week.name, *(found[number] for number in sorted(found))]


def release_of(folder: Path) -> int:
    """Return the release number in a folder's week.json (default 1)."""
    try:
        number = json.loads((folder / DESCRIPTION).read_bytes()).get("release", 1)
    except (OSError, ValueError, AttributeError, RecursionError):
        return 1
    return number if isinstance(number, int) and number > 0 else 1


def current_release(workspace: Workspace, week: Week) -> int:
    """Return the number of the release in the exchange, or 0 if there is none."""
    folder = workspace.outbound(week)
    return release_of(folder) if folder.is_dir() else 0


def changed_files(old: Path, new: Mapping[str, bytes]) -> list[str]:
    """Return the names of changed, new and removed files, except week.json and CHANGES.md."""
    before = {p.relative_to(old).as_posix(): p for p in old.rglob("*") if p.is_file()}
    ours = {CHANGES, DESCRIPTION}
    return sorted(
        name
        for name in {*before, *new} - ours
        if name not in before or name not in new or before[name].read_bytes() != new[name]
    )


def changes_page(week: Week, old: Path, new: Mapping[str, bytes], number: int) -> str:
    """Return CHANGES.md, which lists the changes and how to continue with them."""
    changed = changed_files(old, new)
    if week.module in changed:
        module = f"Copy your functions into the new `{week.module}`, which has changed (see below)."
    else:
        module = f"Copy your `{week.module}` over the new one: the original has not changed."
    parts = [
        f"# {week.title}: changes in release {number}",
        "This folder is a corrected release of the week. If you have fetched the week before, your "
        f"folder `{week.name}` is unchanged. To continue in this one:",
        f"1. {module}\n2. Copy your answers into the new notebook.\n3. Submit this folder. Your "
        "latest submission counts, from either folder.",
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
    # Removed lines are not shown, because a line removed from the stub may now be a secret.
    found = list(difflib.unified_diff(before, after, "before", "now", lineterm="", n=2))[2:]
    return "\n".join(f"    {line}" for line in found if not line.startswith("-"))
