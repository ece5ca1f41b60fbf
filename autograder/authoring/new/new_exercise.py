"""Add an exercise to the files of a week, all of them or none.

An exercise is drafted from the author's function or from a small working example. `FILL IN` marks
the parts that only the author can write. Existing text keeps its layout.
"""

from __future__ import annotations

import ast
import contextlib
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from ...files.atomic import replace_file
from ...model.course import REGISTRY, Course, Week, load
from ...model.course.stubs import stub_of, stub_path
from ...model.errors import CourseError
from ..lesson.syllabus import syllabus_path
from ..template_text import fill_template
from .course_yaml import with_exercise
from .function_source import PLACEHOLDER, ExtractedFunction, insert_function
from .new_week import check_function_name

_ENTRY = "{{name: {name}, points: 2}}"
_EFFORT = "  {name}: {{minutes: [10, 20], difficulty: 2, weight: 2}}  # {blank}: your estimates"


class ExerciseDraft(msgspec.Struct, frozen=True):
    """The parts of a new exercise as source text; `misconceptions` by file name."""

    function: ExtractedFunction
    grader: str
    public_check: str
    misconceptions: dict[str, str]


def example_draft(name: str) -> ExerciseDraft:
    """Return the small exercise that a new week starts with, under another name."""
    values = {"exercise": name, "topic": "topic", "number": 0, "blank": PLACEHOLDER}
    solution = fill_template("solution.py.blank", values)
    public = fill_template("public_test.py.blank", values)
    text = solution[solution.index(f"def {name}(") :]
    return ExerciseDraft(
        function=ExtractedFunction(name, ("import torch",), text, (name,)),
        grader=fill_template("grader.py.blank", values),
        public_check=public[public.index("def test_") :],
        misconceptions={
            f"{name}_forgets_the_root": fill_template("misconception.py.blank", values)
        },
    )


def add_exercise(course: Course, week: Week, draft: ExerciseDraft) -> list[Path]:
    """Write an exercise into a week and return the changed files, those with placeholders first.

    Raise CourseError before any change if the name is already in use.
    """
    name = check_function_name(draft.function.name)
    if name in {e.name for e in week.exercises}:
        raise CourseError(f"{week.name} already has an exercise {name}: choose another name")
    with _atomic_writes() as write:
        module = course.solution(week)
        where = str(module.relative_to(course.root))
        write(module, insert_function(_read(module), draft.function, where))
        added = _secret_files(course, week, draft)
        for path, text in added.items():
            if path.exists():
                raise CourseError(f"{path.relative_to(course.root)} already exists: move it")
            write(path, text)
        changed = _public_files(course, week, draft)
        for path, text in changed.items():
            write(path, text)
        registry = course.root / REGISTRY
        text = registry.read_text(encoding="utf-8")
        write(registry, with_exercise(text, week.name, _ENTRY.format(name=name)))
        changed_course = load(course.root, unfinished=True)
        stub = stub_path(changed_course, changed_course.week(week.name))
        write(stub, stub_of(changed_course, changed_course.week(week.name)))
    return [module, *added, *changed, stub]


def replace_example(course: Course, name: str, draft: ExerciseDraft) -> list[Path]:
    """Replace the example of a new week by an exercise and return the written files.

    The week has no alternative solution afterwards, so `verify` asks the author for one.
    """
    week = course.week(name)
    solutions = course.solution_folder(week)
    module = course.solution(week)
    text = module.read_text(encoding="utf-8")
    header = text[: text.index('"""', 3) + 3]
    for path in [*solutions.glob("misconceptions/*.py"), *solutions.glob("alternatives/*.py")]:
        path.unlink()
    public = course.exercise_folder(week) / f"test_{week.stem}.py"
    checks = public.read_text(encoding="utf-8")
    written = {
        module: insert_function(f"{header}\n", draft.function, week.module),
        **_secret_files(course, week, draft),
        public: checks[: checks.index("def test_")] + _public_check(week, draft),
    }
    for path, text in written.items():
        path.write_text(text, encoding="utf-8")
    stub = stub_path(course, week)
    stub.write_text(stub_of(course, week), encoding="utf-8")
    return [*written, stub]


def _secret_files(course: Course, week: Week, draft: ExerciseDraft) -> dict[Path, str]:
    folder = course.solution_folder(week) / "misconceptions"
    files = {course.graders(week) / f"test_{draft.function.name}.py": draft.grader}
    return files | {folder / f"{stem}.py": text for stem, text in draft.misconceptions.items()}


def _public_check(week: Week, draft: ExerciseDraft) -> str:
    return draft.public_check.replace("from topic import", f"from {week.stem} import")


def _public_files(course: Course, week: Week, draft: ExerciseDraft) -> dict[Path, str]:
    """Return the new text of the public checks, hints, lesson, README and syllabus.

    README and syllabus are left out unless they have a table of exercises.
    """
    name, folder = draft.function.name, course.exercise_folder(week)
    checks = folder / f"test_{week.stem}.py"
    public = _public_check(week, draft)
    existing = _read(checks) or '"""Public checks. Run them with `pytest`."""\n\nimport torch\n'
    if "torch." in public and not re.search(r"^import torch$", existing, flags=re.MULTILINE):
        public = public.replace("    from ", "    import torch\n\n    from ", 1)
    hints = (
        f"## {name}\n"
        f"1. {PLACEHOLDER}: a question that points in the right direction.\n"
        f"2. {PLACEHOLDER}: where to look.\n"
        f"3. {PLACEHOLDER}: almost the answer, in words.\n"
    )
    lesson = (
        f"## {PLACEHOLDER}: the purpose of `{name}`\n\n{PLACEHOLDER}: what students learn here and "
        f'write in `{week.module}`.\n\n```python\ncheck("{name}")\n```\n'
    )
    readme, syllabus = folder / "README.md", syllabus_path(course, week)
    files = {
        checks: f"{existing.rstrip()}\n\n\n{public}",
        folder / "hints.md": _appended(_read(folder / "hints.md"), hints),
        folder / "lesson.md": _appended(_read(folder / "lesson.md"), lesson),
        syllabus: with_effort(_read(syllabus), name),
        readme: _with_row(_read(readme), name, week.exercises[-1].name),
    }
    return {path: text for path, text in files.items() if text}


def _appended(text: str, section: str) -> str:
    return f"{text.rstrip()}\n\n{section}".lstrip()


def _with_row(readme: str, name: str, last: str) -> str:
    """Add a row below the last exercise's in the README's table; return "" without a table."""
    lines = readme.split("\n")
    rows = [n for n, line in enumerate(lines) if line.startswith(f"| `{last}` |")]
    if not rows:
        return ""
    cells = lines[rows[-1]].count("|") - 1
    row = "| ".join(["", f"`{name}` ", "2 ", *[f"{PLACEHOLDER} "] * (cells - 2)]) + "|"
    return "\n".join([*lines[: rows[-1] + 1], row, *lines[rows[-1] + 1 :]])


def with_effort(syllabus: str, name: str) -> str:
    """Add a line for an exercise to the syllabus; return "" if it does not list them in lines."""
    lines = syllabus.split("\n")
    if "exercises:" not in lines:
        return ""
    end = lines.index("exercises:") + 1
    while lines[end].startswith(" "):
        end += 1
    return "\n".join([*lines[:end], _EFFORT.format(name=name, blank=PLACEHOLDER), *lines[end:]])


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.is_file() else ""


@contextlib.contextmanager
def _atomic_writes() -> Iterator[Callable[[Path, str], None]]:
    """Yield a function that writes files; restore all of them if the block raises."""
    before: dict[Path, bytes | None] = {}

    def write(path: Path, text: str) -> None:
        old = before.setdefault(path, path.read_bytes() if path.is_file() else None)
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".py":
            ast.parse(text)
        replace_file(path, text.encode(), path.stat().st_mode & 0o777 if old is not None else 0o644)

    try:
        yield write
    except BaseException:
        for path, content in before.items():
            if content is None:
                path.unlink(missing_ok=True)
            else:
                replace_file(path, content, path.stat().st_mode & 0o777)
        raise
