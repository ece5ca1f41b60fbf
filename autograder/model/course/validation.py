"""Check the values of a parsed course.yaml, and the modules, graders and files that it names.

Without these checks, a misspelt name would be noticed only after a whole class has been graded.
Source files are searched as text; they are never imported or run.
"""

import itertools
import re
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import SplitResult, urlsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from ..availability import EXTRAS, installed
from ..message_text import did_you_mean
from .registry import Course, Late, Limits, Nbgrader, Registry, Week, aware

_EXERCISE = re.compile(r"[A-Za-z][A-Za-z0-9_]*\Z")
_WEEK = re.compile(r"week[0-9]{2}_[a-z0-9_]+\Z")
_SLUG = re.compile(r"[a-z][a-z0-9_-]*\Z")
_PROJECT = ("assets", "autograder", "benchmarks", "exercises", "solutions", "tests")
_ADVICE_FILE = Path(__file__).with_name("advice.toml")
ADVICE: dict[str, dict[str, str]] = tomllib.loads(_ADVICE_FILE.read_text(encoding="utf-8"))
Problem = tuple[str, str]  # the path to the value in course.yaml, and the message
_DEFINED = re.compile(
    r"^(?:(?:async\s+)?def|class)\s+(\w+)|^([A-Za-z_]\w*)\s*(?::[^=\n]+)?=", re.MULTILINE
)


def problems(registry: Registry) -> Iterator[Problem]:
    """Yield a problem for each invalid value."""
    if not _SLUG.match(registry.course):
        yield "course", f"{registry.course!r} must be lower-case letters, digits, - or _"
    try:
        ZoneInfo(registry.timezone)
    except (ZoneInfoNotFoundError, ValueError):
        yield "timezone", f"{registry.timezone!r} is not a time zone such as Europe/Zurich"
        return
    yield from _duplicates("weeks", [w.name[:6] for w in registry.weeks])
    yield from _limit_problems("limits", registry.limits)
    for number, week in enumerate(registry.weeks):
        yield from _week_problems(f"weeks[{number}]", week)
    if registry.late:
        yield from _extension_problems(registry, registry.late)
    yield from _nbgrader_problems(registry.nbgrader)
    if registry.immediate.url:
        yield from _service_problems(registry.immediate.url)


def with_fix(message: str, fields: Sequence[str], choices: Sequence[str] = ()) -> str:
    """Replace an error message of msgspec by one that suggests a fix.

    fields, choices: the settings and the values that are allowed at the location of the error
    """
    message = message[0].lower() + message[1:]
    if unknown := re.search(r"unknown field `([^`]*)`", message):
        return message + did_you_mean(unknown.group(1), fields)
    if choices and (message.startswith("invalid enum value") or "got `bool`" in message):
        quoted = [f'"{c}"' if c in ("no", "yes", "on", "off") else c for c in choices]
        return f"{message}: write {', '.join(quoted[:-1])} or {quoted[-1]}"
    for pattern, text in ADVICE["values"].items():
        if found := re.fullmatch(pattern, message):
            return text.format(message, *found.groups())
    return message


def _limit_problems(location: str, limits: Limits) -> Iterator[Problem]:
    names = "call_seconds", "exercise_seconds", "submission_seconds"
    for inner, outer in itertools.pairwise(names):
        shorter, longer = getattr(limits, inner), getattr(limits, outer)
        if shorter > longer:
            yield f"{location}.{inner}", f"is {shorter:g}, more than {outer}, {longer:g}"


def _week_problems(location: str, week: Week) -> Iterator[Problem]:
    if not _WEEK.match(week.name):
        yield f"{location}.name", f"{week.name!r} must look like week01_topic"
    if not week.module.endswith(".py") or not _EXERCISE.match(week.stem):
        yield f"{location}.module", f"{week.module!r} must be a Python file such as lines.py"
    if (week.due.tzinfo is None) != (week.release.tzinfo is None):
        yield f"{location}.due", "give both dates a time zone, or neither"
    elif week.due <= week.release:
        yield f"{location}.due", f"{week.due} is not after the release, {week.release}: change one"
    if week.limits:
        yield from _limit_problems(f"{location}.limits", week.limits)
    for setting, names in (("files", week.files), ("folders", week.folders)):
        for number, name in enumerate(names):
            if not name or ".." in Path(name).parts or Path(name).is_absolute():
                place = f"{location}.{setting}[{number}]"
                yield place, f"{name!r} must be a path inside its folder"
    yield from _duplicates(f"{location}.exercises", [e.name for e in week.exercises])
    yield from _duplicates(f"{location}.questions", [q.name for q in week.questions])
    for number, exercise in enumerate(week.exercises):
        place = f"{location}.exercises[{number}]"
        if not _EXERCISE.match(exercise.name):
            yield f"{place}.name", f"{exercise.name!r} is not a Python name"
    for number, question in enumerate(week.questions):
        place = f"{location}.questions[{number}]"
        if not _SLUG.match(question.name):
            yield f"{place}.name", f"{question.name!r} must be lower-case letters, digits, - or _"
        if question.name in {e.name for e in week.exercises}:
            yield f"{place}.name", f"{question.name!r} is also an exercise: rename one"
    electives = sum(e.elective for e in week.exercises)
    if week.electives_counted is not None and not 0 <= week.electives_counted <= electives:
        message = f"is {week.electives_counted}, but the week has {electives} electives"
        yield f"{location}.electives_counted", message


def _duplicates(location: str, names: list[str]) -> Iterator[Problem]:
    for number, name in enumerate(names):
        if name in names[:number]:
            first = f"{location}[{names.index(name)}]"
            yield f"{location}[{number}].name", f"{name!r} is already the name of {first}"


def _extension_problems(registry: Registry, late: Late) -> Iterator[Problem]:
    weeks, zone = {w.name: w for w in registry.weeks}, ZoneInfo(registry.timezone)
    seen: dict[tuple[str, str], int] = {}
    for number, extension in enumerate(late.extensions):
        location = f"late.extensions[{number}]"
        week = weeks.get(extension.week)
        first = seen.setdefault((extension.student, extension.week), number)
        if first != number:
            student = extension.student
            yield location, f"{student} already has an extension of {extension.week} in [{first}]"
        if week is None:
            unknown = did_you_mean(extension.week, weeks)
            yield f"{location}.week", f"the course has no week {extension.week!r}{unknown}"
        elif aware(extension.until, zone) <= aware(week.due, zone):
            message = f"{extension.until} is not after the due date of {week.name}, {week.due}"
            yield f"{location}.until", f"{message}: choose a later date"


def _nbgrader_problems(nbgrader: Nbgrader) -> Iterator[Problem]:
    folder = Path(nbgrader.folder)
    if folder.is_absolute() or ".." in folder.parts or not folder.parts:
        yield "nbgrader.folder", f"{nbgrader.folder!r} must be a path inside the project"
    elif folder.parts[0] in _PROJECT:
        message = f"{folder.parts[0]} is used by the project itself: choose another folder"
        yield "nbgrader.folder", message
    if nbgrader.db_url:
        yield from _database_problems(nbgrader.db_url)


def _database_problems(url: str) -> Iterator[Problem]:
    """Check the gradebook's URL. Messages never quote it, because it may contain a password."""
    location = "nbgrader.db_url"
    parts = split_url(url)
    if parts.scheme not in ("sqlite", "postgresql", "postgresql+psycopg"):
        yield location, "must look like postgresql+psycopg://user@host/database"
    if parts.password is not None or "password=" in parts.query.lower():
        yield location, ADVICE["urls"]["password"]


def _service_problems(url: str) -> Iterator[Problem]:
    location = "immediate.url"
    parts = split_url(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        yield location, "must look like https://host/ or https://host/services/autograder/"
    elif parts.username is not None or parts.query or parts.fragment:
        yield location, ADVICE["urls"]["service"]


def split_url(url: str) -> SplitResult:
    """Return the parts of a URL; those of an invalid URL have the scheme "invalid" and no host."""
    try:
        return urlsplit(url)
    except ValueError:
        return urlsplit("invalid:")


def folder_problems(course: Course, *, unfinished: bool) -> Iterator[Problem]:
    """Yield a problem for each missing folder and, unless `unfinished`, for each missing file."""
    for number, week in enumerate(course.weeks):
        location = f"weeks[{number}]"
        missing = list(_missing_folders(course, week))
        yield from ((f"{location}.name", message) for message in missing)
        if not missing and not unfinished:
            yield from _module_problems(course, week, location)
            yield from _grader_problems(course, week, location)
            yield from _asset_problems(course, week, location)
            yield from _extra_problems(week, location)


def _missing_folders(course: Course, week: Week) -> Iterator[str]:
    needed = [course.exercise_folder(week)]
    if (course.root / "solutions").is_dir():  # a released course has no solutions
        needed.append(course.solution_folder(week))
    for folder in needed:
        if not folder.is_dir():
            others = [p.name for p in folder.parent.glob("week*") if p.is_dir()]
            shown, meant = folder.relative_to(course.root), did_you_mean(folder.name, others)
            yield f"the folder {shown} is missing{meant}"


def _module_problems(course: Course, week: Week, location: str) -> Iterator[Problem]:
    folder = course.solution_folder(week)
    if not folder.is_dir():
        folder = course.exercise_folder(week)
    module = folder / week.module
    shown = module.relative_to(course.root)
    if not module.is_file():
        modules = [p.name for p in folder.glob("*.py") if not p.name.startswith("test_")]
        yield f"{location}.module", f"{shown} does not exist{did_you_mean(week.module, modules)}"
        return
    text = module.read_text(encoding="utf-8", errors="replace")
    defined = {a or b for a, b in _DEFINED.findall(text)}
    public = {n for n in defined if not n.startswith("_")}
    unused = public - {e.name for e in week.exercises}
    for number, exercise in enumerate(week.exercises):
        if exercise.name not in defined:
            place = f"{location}.exercises[{number}].name"
            meant = did_you_mean(exercise.name, unused or public)
            yield place, f"{shown} does not define {exercise.name!r}{meant}"


def _grader_problems(course: Course, week: Week, location: str) -> Iterator[Problem]:
    if not (course.root / "solutions").is_dir():
        return
    folder = course.graders(week)
    existing = {p.stem.removeprefix("test_") for p in folder.glob("test_*.py")}
    names = {e.name for e in week.exercises}
    for number, exercise in enumerate(week.exercises):
        if exercise.name not in existing:
            place = f"{location}.exercises[{number}].name"
            shown = (folder / f"test_{exercise.name}.py").relative_to(course.root)
            yield place, f"{exercise.name!r} has no grader: write {shown}, or correct the name"
    for name in sorted(existing - names):
        shown = (folder / f"test_{name}.py").relative_to(course.root)
        message = f"{shown} grades {name!r}, which is not listed: add it, or remove the file"
        yield f"{location}.exercises", message


def _asset_problems(course: Course, week: Week, location: str) -> Iterator[Problem]:
    for setting, names, parent in (
        ("files", week.files, course.root / "assets"),
        ("folders", week.folders, course.root / "exercises"),
    ):
        there = [p.name for p in parent.glob("*") if p.is_dir() == (setting == "folders")]
        for number, name in enumerate(names):
            if not (parent / name).exists():
                message = f"{parent.name}/{name} does not exist{did_you_mean(name, there)}"
                yield f"{location}.{setting}[{number}]", message


def _extra_problems(week: Week, location: str) -> Iterator[Problem]:
    for number, exercise in enumerate(week.exercises):
        extra = exercise.extra
        if extra is None or extra in EXTRAS:
            continue
        if not extra.isidentifier() or not installed(extra):
            meant = did_you_mean(extra, EXTRAS)
            message = f"{extra!r} is neither an extra of pyproject.toml nor an installed library"
            yield f"{location}.exercises[{number}].extra", message + meant
