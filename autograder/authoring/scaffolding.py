"""Create courses, weeks and exercises from templates (`autograder new`).

A new week is complete and works: it has a solution, grader, misconception, alternative, lesson,
hints and public checks for a small example. `FILL IN` marks the parts that only the author can
write. `verify` reports each remaining mark as a gap, so no week is released with template text. A
new exercise is the same example with a different name. course.yaml is edited as text to preserve
its comments and layout.
"""

import datetime as dt
import json
import keyword
import re
import sys
import textwrap
import tomllib
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import yaml
from jinja2 import Environment, PackageLoader, StrictUndefined

from ..model.availability import LIBRARIES, Library
from ..model.course import REGISTRY, Course, Week, load, parse
from ..model.course.stubs import stub_path, write_stub
from ..model.errors import CourseError
from ..model.source.rules import in_words

PLACEHOLDER = "FILL IN"
_NAME = re.compile(r"week([0-9]{2})_([a-z][a-z0-9_]*)\Z")
IN_NUMPY: tuple[Library, ...] = ("numpy", "matplotlib")  # the libraries of a week without torch
_TEXT_FILES = (".py", ".md", ".txt")
_TABLES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


def fill_template(template: str, values: dict[str, Any]) -> str:
    """Return the text of a file in `authoring/templates` with its placeholders replaced."""
    environment = Environment(
        loader=PackageLoader("autograder.authoring"),
        undefined=StrictUndefined,
        keep_trailing_newline=True,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,  # the output is Python or Markdown, and all names are validated
    )
    return environment.get_template(template).render(values)


def with_week(text: str, entry: str) -> str:
    """Return the text of course.yaml with `entry` appended to its weeks.

    entry: a YAML list item without indentation
    Raise CourseError if the result would change an existing week.
    """
    grown = _inserted(text, _field(_root(text), "weeks", REGISTRY), f"\n{entry}")
    if parse(grown).weeks[:-1] != parse(text).weeks:
        raise CourseError(
            f"{REGISTRY}: the new week cannot be inserted automatically: add it by hand:\n{entry}"
        )
    return grown


def with_exercise(text: str, week: str, entry: str) -> str:
    """Return the text of course.yaml with `entry` appended to the exercises of a week.

    Raise CourseError if the result would change an existing exercise.
    """
    before = parse(text).weeks
    number = next(n for n, w in enumerate(before) if w.name == week)
    weeks = _field(_root(text), "weeks", REGISTRY)
    grown = _inserted(text, _field(weeks.value[number], "exercises", week), f"- {entry}")
    after = parse(grown).weeks
    expected = [w.exercises for w in before]
    expected[number] += after[number].exercises[-1:]
    if [w.exercises for w in after] != expected:
        raise CourseError(f"{REGISTRY}: {week}: add the exercise by hand: {entry}")
    return grown


def _root(text: str) -> Any:
    return yaml.compose(text, Loader=yaml.SafeLoader)


def _field(node: Any, name: str, location: str) -> Any:
    fields = {key.value: value for key, value in node.value}
    found = fields[name]
    if found.flow_style:
        raise CourseError(f"{location}: {name}: write them as a list with a `-` line for each")
    return found


def _inserted(text: str, items: Any, entry: str) -> str:
    """Return the text with `entry` inserted after the last of `items` and the comments below it."""
    lines, column = text.rstrip("\n").split("\n"), items.start_mark.column
    end = items.value[-1].start_mark.line + 1
    for number, line in enumerate(lines[end:], start=end):
        if line.strip() and not line[: column + 1].isspace():
            break
        if line.strip():
            end = number + 1
    added = textwrap.indent(entry.rstrip("\n"), " " * column).split("\n")
    return "\n".join([*lines[:end], *added, *lines[end:]]) + "\n"


def new_course(
    root: Path, title: str, name: str, exercise: str | None = None, torch: bool | None = None
) -> list[Path]:
    """Create a course with one week in the folder `root`, and return the created files.

    torch: write the example with torch instead of NumPy
    Raise CourseError if the folder already contains a course.yaml.
    """
    registry = root / REGISTRY
    if registry.exists():
        raise CourseError(f"{REGISTRY} already exists: omit --course to add a week to it")
    today = dt.datetime.now().replace(hour=9, minute=0, second=0, microsecond=0)
    release = today + dt.timedelta(days=7 - today.weekday())
    due = (release + dt.timedelta(days=7)).replace(hour=23, minute=59)
    libraries = LIBRARIES if torch else IN_NUMPY
    values = _week_values((), name, exercise, libraries, (release, due))
    entry = textwrap.indent(fill_template("course.yaml.blank", values), "  ")
    course_id = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-") or "course"
    head = fill_template("registry.yaml.blank", {"id": course_id, "title": json.dumps(title)})
    course = Course(root, parse(f"{head}{entry}"))
    files = _write_week(course, values, f"{head}{entry}")
    conftest = course.graders(course.week(name)).parent / "conftest.py"
    conftest.write_text(fill_template("conftest.py.blank", values), encoding="utf-8")
    return [*files, conftest]


def new_week(
    course: Course, name: str, exercise: str | None = None, torch: bool | None = None
) -> list[Path]:
    """Create the week `name` and return the created files, with the generated stub last.

    torch: write the example with torch (True) or NumPy (False); default: like the last week
    If the name is invalid or already in use, raise CourseError without changing any file.
    """
    last = max(course.weeks, key=lambda w: course.localized(w.due))
    step = dt.timedelta(days=7)
    libraries = last.libraries if torch is None else LIBRARIES if torch else IN_NUMPY
    dates = last.release + step, last.due + step
    values = _week_values(course.weeks, name, exercise, libraries, dates)
    registry = course.root / REGISTRY
    entry = fill_template("course.yaml.blank", values)
    text = with_week(registry.read_text(encoding="utf-8"), entry)
    return _write_week(course, values, text)


def unfilled_placeholders(course: Course, week: Week) -> Iterator[str]:
    """Yield the location of each line of a week that still contains `FILL IN`."""
    if PLACEHOLDER in week.title:
        yield f"{REGISTRY}: the title of {week.name}"
    folders = course.exercise_folder(week), course.solution_folder(week), course.graders(week)
    stub = stub_path(course, week)  # skipped, because it is generated from the solution
    for folder in folders:
        for path in sorted(p for p in folder.rglob("*") if p.suffix in _TEXT_FILES and p != stub):
            lines = path.read_text(encoding="utf-8", errors="replace").split("\n")
            for number, line in enumerate(lines, start=1):
                if PLACEHOLDER in line:
                    yield f"{path.relative_to(course.root)}:{number}"


def _week_values(
    weeks: tuple[Week, ...],
    name: str,
    exercise: str | None,
    libraries: tuple[Library, ...],
    dates: tuple[dt.datetime, dt.datetime],
) -> dict[str, Any]:
    topic = _check_topic(weeks, name)
    own = zip(("release", "due"), (d.isoformat() for d in dates), strict=True)
    return _values(name, topic, exercise or topic, libraries) | dict(own)


def _values(week: str, topic: str, exercise: str, libraries: tuple[Library, ...]) -> dict[str, Any]:
    """Return the variables of the templates; raise CourseError if the function name is invalid."""
    if not re.fullmatch(r"[a-z][a-z0-9_]*", exercise) or keyword.iskeyword(exercise):
        raise CourseError(f"{exercise!r} is not a function name: use a-z, 0-9 and _, no keyword")
    torch = "torch" in libraries
    words: dict[str, Any] = _TABLES["words"]["torch" if torch else "numpy"]
    return words | {
        "name": week,
        "number": int(week[4:6]),
        "topic": topic,
        "module": f"{topic}.py",
        "exercise": exercise,
        "blank": PLACEHOLDER,
        "imports": in_words(libraries),
        "libraries": () if libraries == LIBRARIES else libraries,
        "torch": torch,
    }


def _check_topic(weeks: tuple[Week, ...], name: str) -> str:
    """Return the topic in a week's name; raise CourseError if the name cannot be used."""
    found = _NAME.match(name)
    if not found:
        raise CourseError(
            f"{name!r} must look like week08_topic: two digits, then lower-case letters, digits, _"
        )
    number, topic = found.groups()
    for week in weeks:
        if week.name[4:6] == number:
            raise CourseError(f"{REGISTRY} already has {week.name}: choose another number")
    if topic in sys.stdlib_module_names or keyword.iskeyword(topic) or find_spec(topic):
        raise CourseError(f"Python has a module or keyword {topic!r}: choose a name like {topic}s")
    return topic


def _write_week(course: Course, values: dict[str, Any], registry: str) -> list[Path]:
    paths = {t: course.root / path.format(**values) for t, path in _TABLES["files"].items()}
    if existing := next((p.parent for p in paths.values() if p.parent.exists()), None):
        raise CourseError(
            f"{existing.relative_to(course.root)} already exists: choose another name, or move it"
        )
    files = {path: fill_template(template, values) for template, path in paths.items()}
    return write_files(course.root, values["name"], files, registry)


def write_files(root: Path, week: str, files: dict[Path, str], registry: str) -> list[Path]:
    """Write course.yaml and a week's files and stub; return the paths of the files and the stub."""
    for path, text in {**files, root / REGISTRY: registry}.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    course = load(root, unfinished=True)
    return [*files, write_stub(course, course.week(week))]


def add_exercise(course: Course, week: Week, name: str) -> list[Path]:
    """Add an exercise to a week and return the written files.

    If the name is invalid or already in use, raise CourseError without changing any file.
    """
    values = _values(week.name, week.stem, name, week.libraries)
    if name in {e.name for e in week.exercises}:
        raise CourseError(f"{week.name} already has an exercise {name}: choose another name")

    def section(template: str, start: str) -> str:
        text = fill_template(template, values)
        return text[text.index(start) :]

    misconceptions = course.solution_folder(week) / "misconceptions"
    added = {
        course.graders(week) / f"test_{name}.py": section("grader.py.blank", ""),
        misconceptions / f"{name}_subtracts_one_mean.py": section("misconception.py.blank", ""),
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
    line = str(values["import"])
    changed = {path: _appended(path, text, line) for path, text in sections.items()}
    registry = (course.root / REGISTRY).read_text(encoding="utf-8")
    registry = with_exercise(registry, week.name, f"{{name: {name}, points: 2}}")
    return write_files(course.root, week.name, {**changed, **added}, registry)


def _appended(path: Path, text: str, import_line: str) -> str:
    """Return a file's content with `text` appended, and with `import_line` if a module lacks it."""
    before = path.read_text(encoding="utf-8").rstrip() if path.is_file() else ""
    if path.suffix != ".py":
        return f"{before}\n\n{text}".lstrip()
    if import_line not in before.split("\n"):
        text = f"{import_line}\n\n\n{text}"
    return f"{before}\n\n\n{text}".lstrip()
