"""Create courses of a few weeks in new folders, for tests and benchmarks."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

import yaml

PROJECT = Path(__file__).resolve().parent.parent


def copy_course(
    target: Path,
    weeks: Collection[str],
    change: Callable[[dict[str, Any]], None] | None = None,
    beside: bool = True,
) -> Path:
    """Copy some weeks to a new project folder.

    change: function that edits the contents of course.yaml.
    beside: also copy pictures, and the files and folders that are released with a week; modules,
            which hidden tests call, are always copied
    """
    registry = yaml.safe_load((PROJECT / "course.yaml").read_text(encoding="utf-8"))
    registry["weeks"] = [week for week in registry["weeks"] if week["name"] in weeks]
    ignored = shutil.ignore_patterns("__pycache__")
    places = ("exercises", "solutions", "autograder/graders", *(("assets",) if beside else ()))
    for week in registry["weeks"]:
        for place in places:
            source = PROJECT / place / week["name"]
            if source.is_dir():
                shutil.copytree(source, target / place / week["name"], ignore=ignored)
        if not beside:
            week["files"] = [name for name in week.get("files", ()) if name.endswith(".py")]
            week.pop("folders", None)
        for name in week.get("files", ()):
            (target / "assets" / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(PROJECT / "assets" / name, target / "assets" / name)
        for name in week.get("folders", ()):
            copied = target / "exercises" / name
            shutil.copytree(
                PROJECT / "exercises" / name, copied, ignore=ignored, dirs_exist_ok=True
            )
    for shared in (PROJECT / "solutions").glob("*.py"):  # figures import this module
        shutil.copy(shared, target / "solutions" / shared.name)
    if change is not None:
        change(registry)
    text = yaml.safe_dump(registry, sort_keys=False, allow_unicode=True)
    (target / "course.yaml").write_text(text, encoding="utf-8")
    return target


def write_below(folder: Path, below: str = "") -> Callable[[str, dict[str, bytes], str], list[str]]:
    """Return a function for `collect_*` that writes each student's files to a separate folder."""

    def write(student: str, files: dict[str, bytes], time: str) -> list[str]:
        for name, data in {**files, **({"timestamp.txt": time.encode()} if time else {})}.items():
            path = folder / student / below / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        return []

    return write
