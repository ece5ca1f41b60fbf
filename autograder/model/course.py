"""The registry: course.yaml as typed, validated objects.

Everything else is derived from here or from the folder tree. A mistake is reported in one line
that starts with the file and the path to the value, such as
`course.yaml: weeks[0].exercises[1].points: must not be negative, but is -1`.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import re
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import msgspec
import yaml

from .errors import CourseError, NoCourse
from .folders import folder_problems

REGISTRY = "course.yaml"
_EXERCISE = re.compile(r"[A-Za-z][A-Za-z0-9_]*\Z")
_WEEK = re.compile(r"week[0-9]{2}_[a-z0-9_]+\Z")
_SLUG = re.compile(r"[a-z][a-z0-9_-]*\Z")
Positive = Annotated[float, msgspec.Meta(gt=0)]
PositiveInt = Annotated[int, msgspec.Meta(gt=0)]
Percent = Annotated[float, msgspec.Meta(ge=0, le=100)]


class _Config(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    pass


class Exercise(_Config, frozen=True):
    """One graded function or class of a week."""

    name: str
    points: float
    not_allowed: tuple[str, ...] = ()
    source_not_allowed: tuple[str, ...] = ()  # names refused by reading the source
    elective: bool = False
    extra: str | None = None  # the package extra without which the exercise is not run


class Question(_Config, frozen=True):
    """A written question, marked by hand in Formgrader."""

    name: str
    points: float


class Limits(_Config, frozen=True):
    """What a submission may use. Seconds are wall clock but for `cpu_seconds`; sizes are MiB.

    `gpu_mib` is what torch may keep on a GPU that submissions share. `processes` are those beside
    its own; what it prints is cut by the worker and shown to nobody.
    """

    call_seconds: Positive = 5.0
    exercise_seconds: Positive = 20.0
    submission_seconds: Positive = 120.0
    cpu_seconds: PositiveInt = 120
    memory_mib: PositiveInt = 1024
    gpu_mib: PositiveInt = 4096
    disk_mib: PositiveInt = 16
    processes: Annotated[int, msgspec.Meta(ge=0)] = 0
    open_files: PositiveInt = 64
    reply_mib: PositiveInt = 8
    submission_mib: PositiveInt = 8
    submission_files: PositiveInt = 200


class Week(_Config, frozen=True):
    """One assignment: a module with exercises, a lesson with questions, and its dates."""

    name: str
    title: str
    module: str
    release: dt.datetime
    due: dt.datetime
    exercises: tuple[Exercise, ...]
    questions: tuple[Question, ...] = ()
    not_allowed: tuple[str, ...] = ()
    electives_counted: int | None = None
    files: tuple[str, ...] = ()  # of assets/, laid beside the lesson
    folders: tuple[str, ...] = ()  # of exercises/, laid beside the lesson as they are
    limits: Limits | None = None

    @property
    def stem(self) -> str:
        """The module's name as it is imported."""
        return self.module.removesuffix(".py")

    def exercise(self, name: str) -> Exercise:
        for exercise in self.exercises:
            if exercise.name == name:
                return exercise
        known = ", ".join(e.name for e in self.exercises)
        raise CourseError(f"{self.name} has no exercise {name!r}; it has {known}")

    def patterns(self, exercise: str) -> tuple[str, ...]:
        """The not-allowed patterns that hold for an exercise: the week's and its own."""
        return self.not_allowed + self.exercise(exercise).not_allowed

    @property
    def all_patterns(self) -> tuple[str, ...]:
        own = {p for e in self.exercises for p in e.not_allowed}
        return tuple(sorted(own | set(self.not_allowed)))


class Extension(_Config, frozen=True):
    """More time for one student in one week."""

    student: str
    week: str
    until: dt.datetime


class Late(_Config, frozen=True):
    """What late work costs; late.py says how it is counted."""

    percent: Percent  # off the score, for each started day or hour
    per: Literal["day", "hour"] = "day"
    grace_minutes: Annotated[float, msgspec.Meta(ge=0, lt=1440)] = 0.0
    floor: Percent = 0.0  # percent of the score that is kept however late it is
    slip_days: Annotated[int, msgspec.Meta(ge=0)] = 0  # per student, over the whole course
    extensions: tuple[Extension, ...] = ()


class Nbgrader(_Config, frozen=True):
    """Where nbgrader works. Paths are relative to the project.

    `db_url` is the gradebook's, as SQLAlchemy writes it; without one it is a file in `folder`.
    """

    folder: str = "nbgrader"
    exchange: str = ""
    db_url: str = ""


class Registry(_Config, frozen=True):
    """course.yaml as written."""

    course: str
    title: str
    timezone: str
    weeks: tuple[Week, ...]
    limits: Limits = Limits()
    late: Late | None = None
    nbgrader: Nbgrader = Nbgrader()


class Course:
    """The registry together with the project's folders."""

    def __init__(self, root: Path, registry: Registry) -> None:
        self.root = root
        self.registry = registry
        self.weeks = registry.weeks
        self.zone = ZoneInfo(registry.timezone)

    @property
    def id(self) -> str:
        return self.registry.course

    @property
    def title(self) -> str:
        return self.registry.title

    def week(self, name: str) -> Week:
        """The week of that name; `week1`, `1` and `week01` name the first one too."""
        for week in self.weeks:
            if week.name == name:
                return week
        number = re.fullmatch(r"(?:week)?0*([0-9]+)", name)
        if number:
            for week in self.weeks:
                if int(week.name[4:6]) == int(number.group(1)):
                    return week
        known = ", ".join(w.name for w in self.weeks)
        raise CourseError(f"no week {name!r} in {REGISTRY}; there are {known}")

    def limits(self, week: Week) -> Limits:
        return week.limits or self.registry.limits

    def solution(self, week: Week) -> Path:
        return self.root / "solutions" / week.name / week.module

    def solution_folder(self, week: Week) -> Path:
        return self.root / "solutions" / week.name

    def exercise_folder(self, week: Week) -> Path:
        return self.root / "exercises" / week.name

    def graders(self, week: Week) -> Path:
        return self.root / "autograder" / "graders" / week.name

    def figures(self, week: Week) -> Path:
        return self.root / "assets" / week.name

    def localized(self, moment: dt.datetime) -> dt.datetime:
        """A date of the registry in the course's time zone."""
        return _aware(moment, self.zone)

    @cached_property
    def state(self) -> Path:
        """Where results and the course's secret rest; private to the instructor."""
        folder = self.root / ".autograder"
        folder.mkdir(mode=0o700, exist_ok=True)
        return folder


def find_root(start: Path | None = None) -> Path:
    """The nearest folder at or above `start` that holds course.yaml."""
    start = (start or Path.cwd()).resolve()
    for folder in (start, *start.parents):
        with contextlib.suppress(OSError):  # a folder that is closed to us is none of ours
            if (folder / REGISTRY).is_file():
                return folder
    raise NoCourse(
        f"this command needs the course's project folder, and there is no {REGISTRY} in {start} or "
        "above it: `cd` to the project and try again"
    )


def load(root: Path | None = None, *, unfinished: bool = False) -> Course:
    """Read and validate the registry of the project at `root` (default: found from here).

    What it names must be there; an `unfinished` course needs no more than its folders.
    """
    root = root.resolve() if root else find_root()
    path = root / REGISTRY
    try:
        registry = parse(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise CourseError(f"{path}: there is no such file") from None
    except UnicodeDecodeError as error:
        raise CourseError(f"{REGISTRY}: not UTF-8 text: {error}") from None
    course = Course(root, registry)
    for where, message in folder_problems(course, unfinished=unfinished):
        raise CourseError(f"{REGISTRY}: {where}: {message}")
    return course


def parse(text: str) -> Registry:
    """The registry from YAML text; raises CourseError with the path to the first mistake."""
    try:
        raw = _yaml(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f" line {mark.line + 1}, column {mark.column + 1}:" if mark else ""
        problem = getattr(error, "problem", None) or "not valid YAML"
        raise CourseError(f"{REGISTRY}:{place} {problem}") from None
    try:
        registry = msgspec.convert(raw, Registry, strict=True)
    except msgspec.ValidationError as error:
        message, _, where = str(error).partition(" - at `$")
        where = where.rstrip("`").lstrip(".") or "top level"
        raise CourseError(f"{REGISTRY}: {where}: {message[0].lower()}{message[1:]}") from None
    for where, message in _problems(registry):
        raise CourseError(f"{REGISTRY}: {where}: {message}")
    return registry


def _yaml(text: str) -> object:
    """Read by libyaml where it is there; what is wrong with a text, PyYAML says better."""
    try:
        return yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except yaml.YAMLError:
        return yaml.safe_load(text)


def _problems(registry: Registry) -> Iterator[tuple[str, str]]:
    """What the types cannot say, as (path to the value, message)."""
    if not _SLUG.match(registry.course):
        yield "course", f"{registry.course!r} must be lower-case letters, digits, - or _"
    try:
        ZoneInfo(registry.timezone)
    except (ZoneInfoNotFoundError, ValueError):
        yield "timezone", f"{registry.timezone!r} is no time zone such as Europe/Zurich"
        return
    if not registry.weeks:
        yield "weeks", "there must be at least one"
    yield from _duplicates("weeks", [w.name for w in registry.weeks])
    for number, week in enumerate(registry.weeks):
        yield from _week_problems(f"weeks[{number}]", week)
    if registry.late:
        yield from _extension_problems(registry, registry.late)
    if registry.nbgrader.db_url:
        yield from _gradebook_problems(registry.nbgrader.db_url)


def _week_problems(where: str, week: Week) -> Iterator[tuple[str, str]]:
    if not _WEEK.match(week.name):
        yield f"{where}.name", f"{week.name!r} must look like week01_topic"
    if not week.module.endswith(".py") or not _EXERCISE.match(week.stem):
        yield f"{where}.module", f"{week.module!r} must be a Python file such as softmax.py"
    if (week.due.tzinfo is None) != (week.release.tzinfo is None):
        yield f"{where}.due", "give both dates a time zone, or neither"
    elif week.due <= week.release:
        yield f"{where}.due", f"{week.due} is not after the release, {week.release}"
    if not week.exercises:
        yield f"{where}.exercises", "there must be at least one"
    for place, names in (("files", week.files), ("folders", week.folders)):
        for number, name in enumerate(names):
            if not name or ".." in Path(name).parts or Path(name).is_absolute():
                yield (
                    f"{where}.{place}[{number}]",
                    f"{name!r} must lie in the folder it is taken from",
                )
    yield from _duplicates(f"{where}.exercises", [e.name for e in week.exercises])
    yield from _duplicates(f"{where}.questions", [q.name for q in week.questions])
    for number, exercise in enumerate(week.exercises):
        place = f"{where}.exercises[{number}]"
        if not _EXERCISE.match(exercise.name):
            yield f"{place}.name", f"{exercise.name!r} is no Python name"
        if exercise.points < 0:
            yield f"{place}.points", f"must not be negative, but is {exercise.points:g}"
    for number, question in enumerate(week.questions):
        place = f"{where}.questions[{number}]"
        if not _SLUG.match(question.name):
            yield f"{place}.name", f"{question.name!r} must be lower-case letters, digits, - or _"
        if question.points < 0:
            yield f"{place}.points", f"must not be negative, but is {question.points:g}"
    electives = sum(e.elective for e in week.exercises)
    if week.electives_counted is not None and not 0 <= week.electives_counted <= electives:
        yield (
            f"{where}.electives_counted",
            f"is {week.electives_counted}, but the week has {electives} electives",
        )


def _extension_problems(registry: Registry, late: Late) -> Iterator[tuple[str, str]]:
    weeks, zone = {w.name: w for w in registry.weeks}, ZoneInfo(registry.timezone)
    for number, extension in enumerate(late.extensions):
        where = f"late.extensions[{number}]"
        week = weeks.get(extension.week)
        if week is None:
            yield f"{where}.week", f"{extension.week!r} is no week of the course"
        elif _aware(extension.until, zone) <= _aware(week.due, zone):
            yield f"{where}.until", f"{extension.until} is not after {week.name} is due, {week.due}"


def _gradebook_problems(url: str) -> Iterator[tuple[str, str]]:
    """The messages quote nothing of the URL: it may hold a password."""
    where = "nbgrader.db_url"
    try:
        parts = urlsplit(url)
        secret = parts.password is not None or "password=" in parts.query.lower()
    except ValueError:
        yield where, "is no URL"
        return
    if parts.scheme not in ("sqlite", "postgresql", "postgresql+psycopg"):
        yield where, "must look like postgresql+psycopg://user@host/database"
    if secret:
        yield (
            where,
            "holds a password, and nbgrader shows its settings on its pages: leave it out here and "
            "give it in ~/.pgpass (host:port:database:user:password, mode 0600)",
        )


def _aware(moment: dt.datetime, zone: ZoneInfo) -> dt.datetime:
    return moment if moment.tzinfo else moment.replace(tzinfo=zone)


def _duplicates(where: str, names: list[str]) -> Iterator[tuple[str, str]]:
    for number, name in enumerate(names):
        if name in names[:number]:
            first = names.index(name)
            yield f"{where}[{number}].name", f"{name!r} is already the name of {where}[{first}]"
