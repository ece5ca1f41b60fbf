"""Add the small example of a new week to an existing week, under another name.

`FILL IN` marks the parts that only the author can write. Existing text keeps its layout.
"""

from __future__ import annotations

import re
from pathlib import Path

from ...model.course import REGISTRY, Course, Week
from ...model.errors import CourseError
from ..template_text import fill_template
from .course_yaml import with_exercise
from .new_week import PLACEHOLDER, check_function_name, write_files

_ENTRY = "{{name: {name}, points: 2}}"


def add_exercise(course: Course, week: Week, name: str) -> list[Path]:
    """Write an exercise into a week and return the changed files.

    Raise CourseError before any change if the name is already in use.
    """
    check_function_name(name)
    if name in {e.name for e in week.exercises}:
        raise CourseError(f"{week.name} already has an exercise {name}: choose another name")
    values = {
        "exercise": name,
        "topic": week.stem,
        "module": week.module,
        "number": int(week.name[4:6]),
        "blank": PLACEHOLDER,
    }

    def section(template: str, start: str) -> str:
        text = fill_template(template, values)
        return text[text.index(start) :]

    misconceptions = course.solution_folder(week) / "misconceptions"
    added = {
        course.graders(week) / f"test_{name}.py": section("grader.py.blank", ""),
        misconceptions / f"{name}_forgets_the_root.py": section("misconception.py.blank", ""),
    }
    if existing := next((path for path in added if path.exists()), None):
        raise CourseError(f"{existing.relative_to(course.root)} already exists: move it")
    folder = course.exercise_folder(week)
    sections = {
        course.solution(week): section("solution.py.blank", "def "),
        folder / f"test_{week.stem}.py": section("public_test.py.blank", "def "),
        folder / "hints.md": section("hints.md.blank", "## "),
        folder / "lesson.md": section("lesson.md.blank", "## ").partition("\n## ")[0],
    }
    changed = {path: _appended(path, text) for path, text in sections.items()}
    registry = (course.root / REGISTRY).read_text(encoding="utf-8")
    registry = with_exercise(registry, week.name, _ENTRY.format(name=name))
    return write_files(course.root, week.name, {**changed, **added}, registry)


def _appended(path: Path, text: str) -> str:
    """Return a file's content with `text` appended; add `import torch` to modules that lack it."""
    before = path.read_text(encoding="utf-8").rstrip() if path.is_file() else ""
    if path.suffix != ".py":
        return f"{before}\n\n{text}".lstrip()
    if not re.search(r"^import torch$", before, flags=re.MULTILINE):
        text = f"import torch\n\n\n{text}"
    return f"{before}\n\n\n{text}".lstrip()
