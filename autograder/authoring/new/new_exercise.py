"""Another exercise for a week that is there: written into its files, or nothing is.

It is made of a function of the author's, or of a small example that works. Where an author has
something to say stands `FILL IN`; what is there keeps its layout.
"""

from __future__ import annotations

import ast
import contextlib
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from ...files.atomic import replace_file
from ...model.course.loader import REGISTRY, Course, Week, load
from ...model.course.stubs import stub_of, stub_path
from ...model.errors import CourseError
from ..lesson.syllabus import syllabus_path
from .course_yaml import with_exercise
from .function_source import TakenFunction, with_function
from .new_week import BLANK, checked_exercise, filled

_ENTRY = "{{name: {name}, points: 2}}"
_EFFORT = "  {name}: {{minutes: [10, 20], difficulty: 2, weight: 2}}  # {blank}: your estimates"


class Made(msgspec.Struct, frozen=True):
    """What an exercise brings: its hidden tests, its public check, and wrong versions by name."""

    function: TakenFunction
    grader: str
    public: str
    misconceptions: dict[str, str]


def example(name: str) -> Made:
    """The small exercise that a new week begins with, under another name."""
    about = {"exercise": name, "topic": "topic", "number": 0, "blank": BLANK}
    solution, public = filled("solution.py.blank", about), filled("public_test.py.blank", about)
    return Made(
        function=TakenFunction(
            name, ("import torch",), solution[solution.index(f"def {name}(") :], (name,)
        ),
        grader=filled("grader.py.blank", about),
        public=public[public.index("def test_") :],
        misconceptions={f"{name}_forgets_the_root": filled("misconception.py.blank", about)},
    )


def add_exercise(course: Course, week: Week, made: Made) -> list[Path]:
    """Write an exercise into a week; returns the files, those to fill in first.

    Raises CourseError if something of that name is there already; then nothing was changed.
    """
    name = checked_exercise(made.function.name)
    if name in {e.name for e in week.exercises}:
        raise CourseError(f"{week.name} has an exercise {name} already: choose another name")
    solutions, exercises = course.solution_folder(week), course.exercise_folder(week)
    with _all_or_nothing() as write:
        module = course.solution(week)
        where = str(module.relative_to(course.root))
        write(module, with_function(_read(module), made.function, where))
        fresh = {course.graders(week) / f"test_{name}.py": made.grader}
        for stem, text in made.misconceptions.items():
            fresh[solutions / "misconceptions" / f"{stem}.py"] = text
        for path, text in fresh.items():
            if path.exists():
                raise CourseError(f"{path.relative_to(course.root)} is there already: move it")
            write(path, text)
        changed = list(_students_side(exercises, week, made, write))
        syllabus = syllabus_path(course, week)
        if effort := _with_effort(_read(syllabus), name):
            write(syllabus, effort)
            changed.append(syllabus)
        registry = course.root / REGISTRY
        text = registry.read_text(encoding="utf-8")
        write(registry, with_exercise(text, week.name, _ENTRY.format(name=name)))
        grown = load(course.root, unfinished=True)
        stub = stub_path(grown, grown.week(week.name))
        write(stub, stub_of(grown, grown.week(week.name)))
    return [module, *fresh, *changed, stub]


def in_place_of_the_example(course: Course, name: str, made: Made) -> list[Path]:
    """In a week that was made just now, write an exercise over the example; returns the files.

    What another right version looks like is the author's to say: `verify` asks for one.
    """
    week = course.week(name)
    solutions, checks = course.solution_folder(week), f"test_{week.stem}.py"
    module = course.solution(week)
    text = module.read_text(encoding="utf-8")
    header = text[: text.index('"""', 3) + 3]
    module.write_text(with_function(f"{header}\n", made.function, week.module), encoding="utf-8")
    for path in [*solutions.glob("misconceptions/*.py"), *solutions.glob("alternatives/*.py")]:
        path.unlink()
    fresh = [course.graders(week) / f"test_{made.function.name}.py"]
    fresh[0].write_text(made.grader, encoding="utf-8")
    for stem, wrong in made.misconceptions.items():
        fresh.append(solutions / "misconceptions" / f"{stem}.py")
        fresh[-1].write_text(wrong, encoding="utf-8")
    public = course.exercise_folder(week) / checks
    text = public.read_text(encoding="utf-8")
    public.write_text(text[: text.index("def test_")] + _public(week, made), encoding="utf-8")
    stub = stub_path(course, week)
    stub.write_text(stub_of(course, week), encoding="utf-8")
    return [module, *fresh, public, stub]


def _public(week: Week, made: Made) -> str:
    return made.public.replace("from topic import", f"from {week.stem} import")


def _students_side(
    folder: Path, week: Week, made: Made, write: Callable[[Path, str], None]
) -> Iterator[Path]:
    """Public checks, hints, the lesson and the table of the README, as far as there are any."""
    name = made.function.name
    checks = folder / f"test_{week.stem}.py"
    public = _public(week, made)
    head = _read(checks) or '"""Public checks. Run them with `pytest`."""\n\nimport torch\n'
    if "torch." in public and not re.search(r"^import torch$", head, flags=re.MULTILINE):
        public = public.replace("    from ", "    import torch\n\n    from ", 1)
    write(checks, f"{head.rstrip()}\n\n\n{public}")
    yield checks
    hints = folder / "hints.md"
    stages = ("a question that points in the right direction.", "where to look.")
    said = [
        f"{n}. {BLANK}: {s}" for n, s in enumerate((*stages, "nearly the answer, in words."), 1)
    ]
    write(hints, "\n".join([_read(hints).rstrip(), "", f"## {name}", *said, ""]).lstrip())
    yield hints
    lesson = folder / "lesson.md"
    text = f"## {BLANK}: what `{name}` is for\n\n{BLANK}: what students learn here, and write in "
    text += f'`{week.module}`.\n\n```python\ncheck("{name}")\n```\n'
    write(lesson, f"{_read(lesson).rstrip()}\n\n{text}".lstrip())
    yield lesson
    readme = folder / "README.md"
    if row := _with_row(_read(readme), name, week.exercises[-1].name):
        write(readme, row)
        yield readme


def _with_row(text: str, name: str, last: str) -> str:
    """The README with a row for the exercise below the last one's, if it has a table of them."""
    lines = text.split("\n")
    rows = [n for n, line in enumerate(lines) if line.startswith(f"| `{last}` |")]
    if not rows:
        return ""
    cells = lines[rows[-1]].count("|") - 1
    row = "| ".join(["", f"`{name}` ", "2 ", *[f"{BLANK} "] * (cells - 2)]) + "|"
    return "\n".join([*lines[: rows[-1] + 1], row, *lines[rows[-1] + 1 :]])


def _with_effort(text: str, name: str) -> str:
    """The syllabus with a line for the exercise below the others, if it lists them one by one."""
    lines = text.split("\n")
    if "exercises:" not in lines:
        return ""
    end = lines.index("exercises:") + 1
    while lines[end].startswith(" "):
        end += 1
    return "\n".join([*lines[:end], _EFFORT.format(name=name, blank=BLANK), *lines[end:]])


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.is_file() else ""


@contextlib.contextmanager
def _all_or_nothing() -> Iterator[Callable[[Path, str], None]]:
    """A way to write files that are as they were if anything goes wrong."""
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
