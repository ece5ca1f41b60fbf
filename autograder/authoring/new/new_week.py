"""A new week, with one small exercise that works and blanks that its author fills in.

What is made is a whole week: solution, grader, misconception, alternative, lesson, hints, public
checks. Where an author has something to say stands `FILL IN`; `verify` counts each one that is left
as a gap, so that no week goes out with a template's words in it.
"""

from __future__ import annotations

import datetime as dt
import json
import keyword
import re
import shutil
import sys
import textwrap
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from ...files.atomic import replace_file
from ...model.course.loader import REGISTRY, Course, Week, load, parse
from ...model.course.stubs import stub_of, stub_path
from ...model.errors import CourseError
from ...model.source.rules import in_words
from .course_yaml import with_week
from .function_source import BLANK as BLANK

_NAME = re.compile(r"week([0-9]{2})_([a-z][a-z0-9_]*)\Z")
_READ = (".py", ".md", ".txt")


def new_course(root: Path, title: str, name: str, exercise: str | None = None) -> list[Path]:
    """Make a course in the folder `root` with one week; returns its files.

    Raises CourseError if there is a course.yaml already.
    """
    registry = root / REGISTRY
    if registry.exists():
        raise CourseError(f"{REGISTRY} is there already: leave --course out to add a week to it")
    topic = _checked_topic((), name)
    exercise = checked_exercise(exercise or topic)
    week = _about(name, topic, exercise, *_first_dates())
    entry = textwrap.indent(filled("course.yaml.blank", week), "  ")
    head = filled("registry.yaml.blank", {"id": _id_of(title), "title": json.dumps(title)})
    course = Course(root, parse(f"{head}{entry}"))
    made = _made(course, week, f"{head}{entry}".encode(), 0o644)
    by_hand = course.graders(course.week(name)).parent / "conftest.py"
    by_hand.write_text(filled("conftest.py.blank", week), encoding="utf-8")
    return [*made, by_hand]


def _id_of(title: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-") or "course"


def _first_dates() -> tuple[dt.datetime, dt.datetime]:
    """Release on the next Monday at nine, due a week later."""
    today = dt.datetime.now().replace(hour=9, minute=0, second=0, microsecond=0)
    release = today + dt.timedelta(days=7 - today.weekday())
    return release, (release + dt.timedelta(days=7)).replace(hour=23, minute=59)


def new_week(course: Course, name: str, exercise: str | None = None) -> list[Path]:
    """Make the week `name`; returns its files, the ones to fill in first.

    Raises CourseError if the name will not do or anything of that name is there already; then
    nothing was changed.
    """
    topic = _checked_topic(course.weeks, name)
    exercise = checked_exercise(exercise or topic)
    week = _about(name, topic, exercise, *_next_dates(course))
    registry = course.root / REGISTRY
    text = with_week(registry.read_text(encoding="utf-8"), filled("course.yaml.blank", week))
    return _made(course, week, text.encode(), registry.stat().st_mode & 0o777)


def _made(course: Course, week: dict[str, Any], registry: bytes, mode: int) -> list[Path]:
    """Write the week's files, then the registry that names them; all or nothing."""
    name = week["name"]
    folders = _folders(course, name)
    if taken := next((f for f in folders.values() if f.exists()), None):
        raise CourseError(
            f"{taken.relative_to(course.root)} is there already: choose another name, or move it"
        )
    try:
        places = _places(week["topic"], week["exercise"])
        made = [_write(folders, place, week) for place in places]
        replace_file(course.root / REGISTRY, registry, mode)
    except BaseException:
        for folder in folders.values():
            shutil.rmtree(folder, ignore_errors=True)
        raise
    fresh = load(course.root, unfinished=True)
    stub = stub_path(fresh, fresh.week(name))
    stub.write_text(stub_of(fresh, fresh.week(name)), encoding="utf-8")
    return [*made, stub]


def blanks(course: Course, week: Week) -> Iterator[str]:
    """Where `FILL IN` still stands in a week, as `path:line`."""
    if BLANK in week.title:
        yield f"{REGISTRY}: the title of {week.name}"
    folders = course.exercise_folder(week), course.solution_folder(week), course.graders(week)
    stub = stub_path(course, week)  # made from the solution, which is named instead
    for folder in folders:
        for path in sorted(p for p in folder.rglob("*") if p.suffix in _READ and p != stub):
            lines = path.read_text(encoding="utf-8", errors="replace").split("\n")
            for number, line in enumerate(lines, start=1):
                if BLANK in line:
                    yield f"{path.relative_to(course.root)}:{number}"


def _checked_topic(weeks: tuple[Week, ...], name: str) -> str:
    found = _NAME.match(name)
    if not found:
        raise CourseError(
            f"{name!r} must look like week08_topic: two digits, then lower-case letters, digits, _"
        )
    number, topic = found.groups()
    for week in weeks:
        if week.name[4:6] == number:
            raise CourseError(f"{REGISTRY} has {week.name} already: choose another number")
    _check_python_name(topic)
    if topic in sys.stdlib_module_names or find_spec(topic) is not None:
        raise CourseError(
            f"{topic}.py would stand in the way of Python's own module {topic!r}: "
            f"choose another topic, such as {topic}s"
        )
    return topic


def checked_exercise(exercise: str) -> str:
    """The name of an exercise; raises CourseError if it will not do."""
    if not re.fullmatch(r"[a-z][a-z0-9_]*", exercise):
        raise CourseError(f"{exercise!r} is no name of a function: use lower-case letters and _")
    _check_python_name(exercise)
    return exercise


def _check_python_name(name: str) -> None:
    if keyword.iskeyword(name):
        raise CourseError(f"{name!r} is a word of Python itself: choose another name")


def _next_dates(course: Course) -> tuple[dt.datetime, dt.datetime]:
    """A week after the last week."""
    last = max(course.weeks, key=lambda w: course.localized(w.due))
    step = dt.timedelta(days=7)
    return last.release + step, last.due + step


def _about(
    name: str, topic: str, exercise: str, release: dt.datetime, due: dt.datetime
) -> dict[str, Any]:
    """What the templates say."""
    return {
        "name": name,
        "number": int(name[4:6]),
        "topic": topic,
        "module": f"{topic}.py",
        "exercise": exercise,
        "release": release.isoformat(),
        "due": due.isoformat(),
        "blank": BLANK,
        "imports": in_words(()),
    }


def _folders(course: Course, name: str) -> dict[str, Path]:
    root = course.root
    return {
        "solutions": root / "solutions" / name,
        "graders": root / "autograder" / "graders" / name,
        "exercises": root / "exercises" / name,
    }


def _places(topic: str, exercise: str) -> list[tuple[str, str, str]]:
    """Template, folder, and the file's name in it.

    Templates do not end in .j2, which would pack them, with their hidden test, for students.
    """
    return [
        ("solution.py.blank", "solutions", f"{topic}.py"),
        ("misconception.py.blank", "solutions", "misconceptions/forgets_the_root.py"),
        ("alternative.py.blank", "solutions", "alternatives/sum_and_count.py"),
        ("answers.md.blank", "solutions", "answers.md"),
        ("grader.py.blank", "graders", f"test_{exercise}.py"),
        ("lesson.md.blank", "exercises", "lesson.md"),
        ("hints.md.blank", "exercises", "hints.md"),
        ("README.md.blank", "exercises", "README.md"),
        ("public_test.py.blank", "exercises", f"test_{topic}.py"),
    ]


def _write(folders: dict[str, Path], place: tuple[str, str, str], week: dict[str, Any]) -> Path:
    template, folder, name = place
    path = folders[folder] / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(filled(template, week), encoding="utf-8")
    return path


def filled(template: str, week: dict[str, Any]) -> str:
    """A template with what it says of the week."""
    environment = Environment(
        loader=PackageLoader("autograder.authoring"),
        undefined=StrictUndefined,
        keep_trailing_newline=True,
        autoescape=False,  # Python and Markdown, from names that were checked
    )
    return environment.get_template(template).render(week)
