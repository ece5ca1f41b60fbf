"""The registry as typed values, and a course: the registry together with its folders.

course.py reads one from course.yaml. Everything else is derived from here or from the folder tree.
"""

from __future__ import annotations

import datetime as dt
import re
from functools import cached_property
from pathlib import Path
from typing import Annotated, Literal
from zoneinfo import ZoneInfo

import msgspec

from ..errors import CourseError
from .yaml_text import REGISTRY

Positive = Annotated[float, msgspec.Meta(gt=0)]
PositiveInt = Annotated[int, msgspec.Meta(gt=0)]
Percent = Annotated[float, msgspec.Meta(ge=0, le=100)]


class _Config(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    pass


class Exercise(_Config, frozen=True):
    """One graded function or class of a week."""

    name: str  # the function or class that students write
    points: float  # what it is worth
    not_allowed: tuple[str, ...] = ()  # calls refused in it, besides the week's
    source_not_allowed: tuple[str, ...] = ()  # names refused by reading the source
    elective: bool = False  # only the best few electives of a week count
    extra: str | None = None  # the package extra without which the exercise is not run


class Question(_Config, frozen=True):
    """A written question, marked by hand in Formgrader."""

    name: str  # its anchor in lesson.md: `<!-- answer: name -->`
    points: float  # what it is worth


class Limits(_Config, frozen=True):
    """What a submission may use. Sizes are MiB.

    Seconds do not count while others have the processors, until that has been four times
    `submission_seconds`; `cpu_seconds` count only while the submission has one.

    `gpu_mib` is what torch may keep on a GPU that submissions share. `processes` are those beside
    its own; what it prints is cut by the worker and shown to nobody.
    """

    call_seconds: Positive = 5.0  # for one call of a hidden test
    exercise_seconds: Positive = 20.0  # for all calls of one exercise
    submission_seconds: Positive = 120.0  # for a whole submission
    cpu_seconds: PositiveInt = 120  # of processor time, for a whole submission
    memory_mib: PositiveInt = 1024  # of memory
    gpu_mib: PositiveInt = 4096  # of a GPU's memory, where one is used
    disk_mib: PositiveInt = 16  # that it may write
    processes: Annotated[int, msgspec.Meta(ge=0)] = 0  # besides its own
    open_files: PositiveInt = 64  # open at a time
    reply_mib: PositiveInt = 8  # in one answer
    submission_mib: PositiveInt = 8  # handed in, unpacked
    submission_files: PositiveInt = 200  # handed in


class Lms(_Config, frozen=True):
    """What a learning platform calls a week."""

    canvas_id: int | None = None  # the assignment's number in Canvas: its column ends with it


class Week(_Config, frozen=True):
    """One assignment: a module with exercises, a lesson with questions, and its dates."""

    name: str  # its folder in exercises/ and solutions/, such as week01_softmax
    title: str  # what students read
    module: str  # the file that students fill in
    release: dt.datetime  # from when on it is released
    due: dt.datetime  # until when it is on time
    exercises: tuple[Exercise, ...]  # graded by hidden tests
    questions: tuple[Question, ...] = ()  # answered in the lesson, marked by hand
    not_allowed: tuple[str, ...] = ()  # calls refused in every exercise of it
    electives_counted: int | None = None  # how many electives count; default: all
    files: tuple[str, ...] = ()  # of assets/, laid beside the lesson
    folders: tuple[str, ...] = ()  # of exercises/, laid beside the lesson as they are
    limits: Limits | None = None  # in place of the course's limits
    lms: Lms | None = None  # what a learning platform calls it

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
    def extras(self) -> tuple[str, ...]:
        """The package extras that exercises of the week need."""
        return tuple(sorted({e.extra for e in self.exercises if e.extra}))

    @property
    def all_patterns(self) -> tuple[str, ...]:
        own = {p for e in self.exercises for p in e.not_allowed}
        return tuple(sorted(own | set(self.not_allowed)))


class Extension(_Config, frozen=True):
    """More time for one student in one week."""

    student: str  # the id in the gradebook
    week: str  # the week's name
    until: dt.datetime  # the due date for this student


class Late(_Config, frozen=True):
    """What late work costs; late.py says how it is counted."""

    percent: Percent  # off the score, for each started day or hour
    per: Literal["day", "hour"] = "day"  # what is counted
    grace_minutes: Annotated[float, msgspec.Meta(ge=0, lt=1440)] = 0.0  # this much is on time
    floor: Percent = 0.0  # percent of the score that is kept however late it is
    slip_days: Annotated[int, msgspec.Meta(ge=0)] = 0  # per student, over the whole course
    extensions: tuple[Extension, ...] = ()  # more time for single students


class Scoring(_Config, frozen=True):
    """How points are taken off; scoring.py says how they are counted."""

    follow_through: Literal["full", "half", "none"] = "full"  # kept where only a helper is wrong
    by: Literal["mistakes", "tests"] = "mistakes"  # named mistakes' costs, or the share of tests

    @property
    def carried(self) -> float:
        """The share of an inherited test's points that is kept."""
        return {"full": 1.0, "half": 0.5, "none": 0.0}[self.follow_through]


class Nbgrader(_Config, frozen=True):
    """Where nbgrader works. Paths are relative to the project.

    `db_url` is the gradebook's, as SQLAlchemy writes it; without one it is a file in `folder`.
    """

    folder: str = "nbgrader"  # where its folders are
    exchange: str = ""  # shared by all users; default: within `folder`
    db_url: str = ""  # the gradebook; default: a file in `folder`


class Immediate(_Config, frozen=True):
    """What `autograder serve` tells students of a hand-in before feedback is returned.

    `names` tells the mistakes that have a name, with hint and line; `verdicts` also which claims
    hold; `scores` also the points. `tries` bounds how many results a student is told in each hour,
    day, or whole week of the course; whatever is handed in beyond them counts too.
    """

    show: Literal["names", "verdicts", "scores", "nothing"] = "verdicts"  # what is told
    tries: Annotated[int, msgspec.Meta(ge=1, le=1000)] = 10  # how many results are told
    per: Literal["hour", "day", "week"] = "day"  # in which time; week: for the week as a whole
    cooldown_minutes: Annotated[float, msgspec.Meta(ge=0, le=1440)] = 0.0  # between two results
    until: Literal["due", "always"] = "due"  # whether late work is told a result, too
    url: str = ""  # where students reach the service; a week that is released says it


class Canvas(_Config, frozen=True):
    """Where `push --canvas` writes; each week names its assignment in `lms.canvas_id`."""

    url: str  # the school's Canvas, such as https://school.instructure.com
    course: int  # the course's number there


class Lti(_Config, frozen=True):
    """The platform that `push --lti` writes to, as it is registered there (LTI 1.3)."""

    client_id: str  # the tool's id on the platform
    token_url: str  # where access tokens are given out
    lineitems: str  # the course's line items (Assignment and Grade Services)
    memberships: str  # the course's members (Names and Role Provisioning Services)
    key_id: str = ""  # of the tool's key, where the platform asks for it
    audience: str = ""  # of the token request; default: `token_url`


class Suspects(_Config, frozen=True):
    """How long the line of a mistake is looked for, in seconds of processor time."""

    seconds: Annotated[float, msgspec.Meta(ge=0, le=600)] = 2.0  # for each wrong exercise; 0: never
    submission: Annotated[float, msgspec.Meta(ge=0, le=6000)] = 6.0  # for all of a submission


class Registry(_Config, frozen=True):
    """course.yaml as written."""

    course: str  # the course's id in nbgrader
    title: str  # what students read
    timezone: str  # of dates without one, such as Europe/Zurich
    weeks: tuple[Week, ...]  # in their order
    limits: Limits = Limits()  # what a submission may use
    late: Late | None = None  # what late work costs; default: nothing
    scoring: Scoring = Scoring()  # how points are taken off
    nbgrader: Nbgrader = Nbgrader()  # where nbgrader works
    groups: Literal["listed", "declared"] = "listed"  # in groups.csv, or in students' group.txt
    canvas: Canvas | None = None  # where grades are pushed
    lti: Lti | None = None  # where grades are pushed
    suspects: Suspects = Suspects()  # how long the line of a mistake is looked for
    immediate: Immediate = Immediate()  # what is told of a hand-in at once
    counts: Literal["latest", "best"] = "latest"  # which submission counts; best: after lateness
    handouts: str = ""  # the web address of the folder with `<week>.zip`, for notebooks elsewhere
    modules_from_notebook: bool = False  # grade what only the notebook defines from there
    decimals: Annotated[int, msgspec.Meta(ge=0, le=4)] = 2  # to which scores are rounded


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
        return aware(moment, self.zone)

    @cached_property
    def state(self) -> Path:
        """Where results and the course's secret rest; private to the instructor."""
        folder = self.root / ".autograder"
        folder.mkdir(mode=0o700, exist_ok=True)
        return folder


def aware(moment: dt.datetime, zone: ZoneInfo) -> dt.datetime:
    """The moment with a time zone: its own, or this one."""
    return moment if moment.tzinfo else moment.replace(tzinfo=zone)
