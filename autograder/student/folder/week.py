"""Open a week's folder, and read and write `week.json`, which describes the week."""

import datetime as dt
import re
from functools import cached_property
from pathlib import Path

import msgspec

from ...model.availability import LIBRARIES
from ...model.course import REGISTRY, Course, Week, load
from ...model.course.stubs import stub_of
from ...model.errors import BuildError, CourseError, KitError
from ...model.message_text import did_you_mean
from ...model.source.import_failure import not_text
from ...model.source.rules import Rules

DESCRIPTION = "week.json"
MEMORY = ".autograder-student.json"
DEFINITION = re.compile(r"^(?:def|class)\s+(\w+)", re.MULTILINE)
SUFFIX_OF_SOLUTIONS = "-solutions"  # the folder of released solutions is named <week>-solutions


class WeekExercise(msgspec.Struct, frozen=True):
    name: str
    points: float
    elective: bool = False
    not_allowed: tuple[str, ...] = ()
    source_not_allowed: tuple[str, ...] = ()
    extra: str = ""


class WeekQuestion(msgspec.Struct, frozen=True):
    name: str
    points: float


class WeekFile(msgspec.Struct, frozen=True):
    """The contents of week.json, including the stub that `reset` restores."""

    week: str
    title: str
    module: str
    due: dt.datetime
    exercises: tuple[WeekExercise, ...]
    questions: tuple[WeekQuestion, ...] = ()
    stub: str = ""
    electives_counted: int | None = None
    release: int = 1  # number of the week's release; corrected releases have higher numbers
    hand_in: str = ""  # URL of the course's service, or "" if there is none
    course: str = ""  # name of the course in nbgrader's exchange
    libraries: tuple[str, ...] = LIBRARIES  # what students may import, without the extras

    @property
    def rules(self) -> dict[str, Rules]:
        """The rules for source code, by exercise."""
        return {e.name: Rules(e.not_allowed, e.source_not_allowed) for e in self.exercises}

    @property
    def extras(self) -> tuple[str, ...]:
        """The extras of the kit whose libraries the week's exercises may import."""
        return tuple(sorted({e.extra for e in self.exercises if e.extra}))


def describe_week(course: Course, week: Week, release: int = 1) -> bytes:
    """Return the contents of week.json for a release of the week."""
    described = _describe(course, week, stub_of(course, week), release)
    return msgspec.json.format(msgspec.json.encode(described), indent=1) + b"\n"


def _describe(course: Course, week: Week, stub: str, release: int = 1) -> WeekFile:
    exercises = (
        (e.name, e.points, e.elective, week.patterns(e.name), e.source_not_allowed, e.extra or "")
        for e in week.exercises
    )
    return WeekFile(
        week=week.name,
        title=week.title,
        module=week.module,
        due=course.localized(week.due),
        exercises=tuple(WeekExercise(*facts) for facts in exercises),
        questions=tuple(WeekQuestion(q.name, q.points) for q in week.questions),
        stub=stub,
        electives_counted=week.electives_counted,
        release=release,
        hand_in=course.registry.immediate.url,
        course=course.id,
        libraries=week.libraries,
    )


class WeekFolder:
    """The folder in which a student works on a week.

    memory: the path of the state file (see `lessons`); default: a file in the folder.
    """

    def __init__(self, path: Path, week: WeekFile, memory: Path | None = None) -> None:
        self.path, self.week = path, week
        self.memory = memory or path / MEMORY
        self.module = path / week.module
        self.stem = week.module.removesuffix(".py")
        self.names = tuple(e.name for e in week.exercises)
        self.heading = f"Week {week.week[4:6].lstrip('0')} · {week.title}"

    @cached_property
    def checks(self) -> Path:
        """The path of the public checks; raises KitError if the file is missing."""
        path = self.path / f"test_{self.stem}.py"
        if not path.is_file():
            raise KitError(
                f"{path.name}, the file of public checks, is missing from {self.path.name}: "
                "copy it from the released folder"
            )
        return path

    def source(self) -> str:
        """Return the source of the module; raise KitError if it is missing or unreadable."""
        try:
            content = self.module.read_bytes()
        except FileNotFoundError:
            remedy = ": `autograder reset --all` restores the stub"
            if others := [*self.copies(), *self.misplaced()]:
                remedy = f"; there is {others[0].name}: rename it to {self.module.name}"
            raise KitError(f"there is no {self.module.name} in {self.path.name}{remedy}") from None
        except IsADirectoryError:
            raise KitError(
                f"{self.module.name} is a folder: rename it, and restore the file with "
                "`autograder reset --all`"
            ) from None
        except OSError as error:
            raise KitError(f"{self.module.name} cannot be read: {error.strerror}") from None
        if problem := not_text(self.module.name, content):
            raise KitError(problem)
        return content.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")

    def copies(self) -> list[Path]:
        """Return copies of the module, such as `softmax (1).py` from a browser or an editor."""
        pattern = rf"{re.escape(self.stem)}( ?\(\d+\)| - copy.*|[ _-]copy\d*)\.py"
        copied = re.compile(pattern, re.IGNORECASE)
        return [p for p in sorted(self.path.glob("*.py")) if copied.fullmatch(p.name)]

    def misplaced(self) -> dict[Path, list[str]]:
        """Map text files next to the module to the exercises that they define, the newest first.

        This finds files that were saved under a wrong name, such as `softmax.py.txt`.
        """
        known = (self.week.module, f"test_{self.week.module}")
        found: dict[Path, list[str]] = {}
        paths = (p for p in self.path.iterdir() if p.suffix in (".py", ".txt"))
        for path in sorted(paths, key=lambda p: p.lstat().st_mtime, reverse=True):
            if path.name not in known and path.is_file():
                text = path.read_text(encoding="utf-8", errors="replace")
                names = [n for n in DEFINITION.findall(text) if n in self.names]
                found |= {path: names} if names else {}
        return found

    def newer_copies(self) -> list[Path]:
        """Return copies that were modified after the module."""
        return [c for c in self.copies() if c.stat().st_mtime > self.module.stat().st_mtime]

    def exercise(self, name: str) -> WeekExercise:
        """Return the exercise with this name; raise KitError with a suggestion if there is none."""
        for exercise in self.week.exercises:
            if exercise.name == name:
                return exercise
        hint = did_you_mean(name, self.names)
        raise KitError(f"{self.heading} has no exercise {name!r}{hint}")

    def exercise_of(self, test: str) -> str:
        """Return the exercise that the test `test_<exercise>_<claim>` checks, or "" if unknown."""
        rest = test.removeprefix("test_")
        fits = [n for n in self.names if rest == n or rest.startswith(f"{n}_")]
        return max(fits, key=len, default="")


def open_folder(start: Path | None = None) -> WeekFolder:
    """Open the week at `start` (default: the current folder) or in a folder above it.

    Raise KitError if none of these folders is a week.
    """
    start = (start or Path.cwd()).resolve()
    if not start.exists():
        raise KitError(f"there is no folder {start.name}")
    for folder in (start, *start.parents):
        found = _opened(folder)
        if found:
            return found
    if any(start.glob("test_*.py")):
        raise KitError(
            f"{DESCRIPTION} is missing from {start.name}: copy it from the released folder"
        )
    nearby = [f.path.name for f in open_all(start)]
    where = f"one of {', '.join(nearby)}" if nearby else "a week's folder"
    here = start.name or start
    raise KitError(f"{here} is not a week of the course: `cd` into {where} and try again")


def open_all(start: Path | None = None) -> list[WeekFolder]:
    """Open the weeks in `start` and its `exercises`, or next to the week that contains `start`."""
    start = (start or Path.cwd()).resolve()
    here = next((f for f in (start, *start.parents) if _opened(f)), None)
    parent = here.parent if here else start
    places = [parent, parent / "exercises"]
    children = [c for p in places if p.is_dir() for c in sorted(p.iterdir()) if c.is_dir()]
    children = [c for c in children if not c.name.endswith(SUFFIX_OF_SOLUTIONS)]
    return [f for f in map(_opened, children) if f]


def _opened(folder: Path) -> WeekFolder | None:
    try:
        data = (folder / DESCRIPTION).read_bytes()
    except FileNotFoundError:
        return _from_checkout(folder)
    except OSError:  # such as a folder that is a file, or that may not be read
        return None
    try:
        return WeekFolder(folder, msgspec.json.decode(data, type=WeekFile))
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise KitError(
            f"{folder.name}/{DESCRIPTION} is damaged ({error}): copy it from the released folder"
        ) from None


def _from_checkout(folder: Path) -> WeekFolder | None:
    """Open exercises/<week> of an author's checkout, where course.yaml describes the week."""
    if folder.parent.name != "exercises" or not (folder.parent.parent / REGISTRY).is_file():
        return None
    course = load(folder.parent.parent, unfinished=True)
    try:
        week = course.week(folder.name)
    except CourseError:
        return None
    try:
        stub = stub_of(course, week)
    except BuildError:
        stub = ""
    # the state file is outside the folder, because the folder's files are released
    memory = course.state / f"student-{week.name}.json"
    return WeekFolder(folder, _describe(course, week, stub), memory)
