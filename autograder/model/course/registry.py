"""Define the settings of course.yaml as types, and `Course`, which combines them with the project.

The documentation of course.yaml is generated from the docstrings and comments of these classes.
"""

import datetime as dt
import re
from functools import cached_property
from pathlib import Path
from typing import Annotated, Literal
from zoneinfo import ZoneInfo

import msgspec

from ..availability import Library, importable
from ..errors import CourseError

REGISTRY = "course.yaml"
Positive = Annotated[float, msgspec.Meta(gt=0)]
PositiveInt = Annotated[int, msgspec.Meta(gt=0)]
Points = Annotated[float, msgspec.Meta(ge=0, le=1_000_000)]
Percent = Annotated[float, msgspec.Meta(ge=0, le=100)]
_NOT_EMPTY = msgspec.Meta(min_length=1)
Text = Annotated[str, msgspec.Meta(pattern=r"\S")]  # a text that is not empty


class _Config(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    pass


class Exercise(_Config, frozen=True):
    """One graded function or class of a week."""

    name: str  # the function or class that students write
    points: Points  # points for a correct solution
    not_allowed: tuple[Text, ...] = ()  # forbidden calls, in addition to the week's
    source_not_allowed: tuple[Text, ...] = ()  # names that must not appear in the source
    elective: bool = False  # only the best electives of a week count
    extra: str | None = None  # the optional library that the exercise needs


class Question(_Config, frozen=True):
    """A written question, marked by hand in Formgrader."""

    name: str  # the name in lesson.md: `<!-- answer: name -->`
    points: Points  # points for a complete answer


class Limits(_Config, frozen=True):
    """Resource limits of a submission. Sizes are in MiB.

    Seconds are not counted while other programs use the processors, up to a total of four times
    `submission_seconds`; `cpu_seconds` limits processor time instead. The submission's output is
    truncated and not shown.
    """

    call_seconds: Positive = 5.0  # one call of a hidden test
    exercise_seconds: Positive = 20.0  # all calls of one exercise
    submission_seconds: Positive = 120.0  # the whole submission
    cpu_seconds: PositiveInt = 120  # processor time of one process
    memory_mib: PositiveInt = 1024  # memory of the whole submission
    gpu_mib: PositiveInt = 4096  # memory that torch may allocate on a shared GPU
    disk_mib: PositiveInt = 16  # total size of the files that the submission writes
    processes: Annotated[int, msgspec.Meta(ge=0)] = 0  # processes that a submission may start
    open_files: PositiveInt = 64  # open file descriptors
    reply_mib: PositiveInt = 8  # the result of one call
    submission_mib: PositiveInt = 8  # submitted files, unpacked
    submission_files: PositiveInt = 200  # number of submitted files


class Lms(_Config, frozen=True):
    """A week on a learning platform."""

    canvas_id: int | None = None  # the assignment's number in Canvas, at the end of its column name


class Week(_Config, frozen=True):
    """One assignment: a module with exercises, a lesson with questions, and two dates."""

    name: str  # the folder in exercises/ and solutions/, such as week01_lines
    title: Text  # shown to students
    module: str  # the file that students fill in
    release: dt.datetime  # release date
    due: dt.datetime  # due date
    exercises: Annotated[tuple[Exercise, ...], _NOT_EMPTY]  # graded by hidden tests
    questions: tuple[Question, ...] = ()  # written questions, marked by hand
    not_allowed: tuple[Text, ...] = ()  # calls that are forbidden in every exercise
    # what students may import, in addition to the standard library and their exercises' extras
    libraries: tuple[Library, ...] = ("torch", "numpy", "matplotlib")
    electives_counted: int | None = None  # how many electives count; default: all
    files: tuple[str, ...] = ()  # files of assets/ that are released with the lesson
    folders: tuple[str, ...] = ()  # folders of exercises/ that are released with the lesson
    limits: Limits | None = None  # replaces all of the course's limits
    lms: Lms | None = None  # the week on learning platforms

    @property
    def stem(self) -> str:
        """The module's name without `.py`."""
        return self.module.removesuffix(".py")

    def exercise(self, name: str) -> Exercise:
        for exercise in self.exercises:
            if exercise.name == name:
                return exercise
        known = ", ".join(e.name for e in self.exercises)
        raise CourseError(f"{self.name} has no exercise {name!r}; it has {known}")

    def patterns(self, exercise: str) -> tuple[str, ...]:
        """Return the patterns of forbidden calls for an exercise, including those of the week."""
        return self.not_allowed + self.exercise(exercise).not_allowed

    @property
    def public_modules(self) -> tuple[str, ...]:
        """The Python files among `files`, which hidden tests may call."""
        return tuple(name for name in self.files if name.endswith(".py"))

    @property
    def test_files(self) -> tuple[str, ...]:
        """The Python files and arrays among `files`, which hidden tests may read."""
        return tuple(name for name in self.files if name.endswith((".py", ".npz")))

    @property
    def extras(self) -> tuple[str, ...]:
        """The optional libraries that exercises of the week need."""
        return tuple(sorted({e.extra for e in self.exercises if e.extra}))

    @property
    def importable(self) -> tuple[str, ...]:
        """The libraries that students may import."""
        return importable(self.libraries, self.extras)

    @property
    def all_patterns(self) -> tuple[str, ...]:
        own = {p for e in self.exercises for p in e.not_allowed}
        return tuple(sorted(own | set(self.not_allowed)))


class Extension(_Config, frozen=True):
    """More time for one student in one week."""

    student: Text  # the id in the gradebook
    week: str  # the week's name
    until: dt.datetime  # the due date for this student


class Late(_Config, frozen=True):
    """The penalty for late work, which `late.py` computes."""

    percent: Percent  # deducted from the score for each started day or hour
    per: Literal["day", "hour"] = "day"  # the unit of lateness
    # minutes after the due date that still count as on time
    grace_minutes: Annotated[float, msgspec.Meta(ge=0, lt=1440)] = 0.0
    floor: Percent = 0.0  # the minimum percentage of the score that late work keeps
    # free late days per student in the whole course
    slip_days: Annotated[int, msgspec.Meta(ge=0)] = 0
    extensions: tuple[Extension, ...] = ()  # later due dates for individual students


class Scoring(_Config, frozen=True):
    """How points are deducted for mistakes, which `scoring.py` computes."""

    follow_through: Literal["full", "half", "none"] = "full"  # credit if only a helper is wrong
    # deduct the costs of named mistakes, or the share of failed tests
    by: Literal["mistakes", "tests"] = "mistakes"

    @property
    def carried(self) -> float:
        """The share of the points of a test that fails only because of a wrong helper."""
        return {"full": 1.0, "half": 0.5, "none": 0.0}[self.follow_through]


class Nbgrader(_Config, frozen=True):
    """nbgrader's folders and database. Paths are relative to the project."""

    folder: str = "nbgrader"  # the folder of nbgrader's files
    exchange: str = ""  # the exchange, shared by all users; default: a folder in `folder`
    db_url: str = ""  # the gradebook's SQLAlchemy URL; default: a file in `folder`


class Immediate(_Config, frozen=True):
    """The results that `autograder serve` shows to students before feedback is released.

    `names` shows known mistakes with hint and line, `verdicts` also which tests pass, and `scores`
    also the points. `tries` limits the number of results that a student sees per hour, day, or week
    of the course. Submissions beyond the limit are graded, but their results are not shown.
    """

    # the part of a result that is shown
    show: Literal["names", "verdicts", "scores", "nothing"] = "verdicts"
    # how many results a student sees in each period
    tries: Annotated[int, msgspec.Meta(ge=1, le=1000)] = 10
    per: Literal["hour", "day", "week"] = "day"  # the period; `week`: the whole week of the course
    # how many counterexamples a student sees each day, over all results of a week; 0: none
    counterexamples: Annotated[int, msgspec.Meta(ge=0, le=1000)] = 20
    # minimum number of minutes between two results
    cooldown_minutes: Annotated[float, msgspec.Meta(ge=0, le=1440)] = 0.0
    until: Literal["due", "always"] = "due"  # `always`: late submissions get a result too
    url: str = ""  # the address of the service, written into released weeks


class Canvas(_Config, frozen=True):
    """The Canvas course that `push --canvas` writes to; each week needs its `lms.canvas_id`."""

    url: str  # such as https://school.instructure.com
    course: int  # the course's number in Canvas


class Lti(_Config, frozen=True):
    """The learning platform that `push --lti` writes to (LTI 1.3)."""

    client_id: str  # the tool's id on the platform
    token_url: str  # the URL for access tokens
    lineitems: str  # the course's line items (Assignment and Grade Services)
    memberships: str  # the course's members (Names and Role Provisioning Services)
    key_id: str = ""  # id of the tool's key, if the platform requires one
    audience: str = ""  # audience of the token request; default: `token_url`


class Suspects(_Config, frozen=True):
    """Limits on the processor time, in seconds, for locating mistakes."""

    # for each wrong exercise; 0: do not locate mistakes
    seconds: Annotated[float, msgspec.Meta(ge=0, le=600)] = 2.0
    submission: Annotated[float, msgspec.Meta(ge=0, le=6000)] = 6.0  # for each submission


class Counterexamples(_Config, frozen=True):
    """Limits on the processor time, in seconds, for finding counterexamples."""

    # for each wrong exercise; 0: do not search
    seconds: Annotated[float, msgspec.Meta(ge=0, le=600)] = 1.0
    submission: Annotated[float, msgspec.Meta(ge=0, le=6000)] = 3.0  # for each submission


class Registry(_Config, frozen=True):
    """The content of course.yaml."""

    course: str  # the course's id in nbgrader
    title: Text  # shown to students
    timezone: str  # the time zone of dates without one, such as Europe/Zurich
    weeks: Annotated[tuple[Week, ...], _NOT_EMPTY]  # in the order of the course
    limits: Limits = Limits()  # resource limits of a submission
    late: Late | None = None  # the penalty for late work; default: none
    scoring: Scoring = Scoring()  # how points are deducted
    nbgrader: Nbgrader = Nbgrader()  # nbgrader's folders
    canvas: Canvas | None = None  # the Canvas course that receives the grades
    lti: Lti | None = None  # the learning platform that receives the grades
    suspects: Suspects = Suspects()  # time limits for locating mistakes
    counterexamples: Counterexamples = Counterexamples()  # time limits for counterexamples
    immediate: Immediate = Immediate()  # what students see before feedback
    # the submission that counts; `best`: the one with the highest score after late penalties
    counts: Literal["latest", "best"] = "latest"
    handouts: str = ""  # the URL of the folder with `<week>.zip`, for Colab and Kaggle
    decimals: Annotated[int, msgspec.Meta(ge=0, le=4)] = 2  # decimals of scores
    anonymous_marking: bool = False  # the service shows markers codes instead of students' names


class Course:
    """A course: the settings of course.yaml, and the folders of the project."""

    def __init__(self, root: Path, registry: Registry) -> None:
        self.root = root
        self.registry = registry
        self.id, self.title = registry.course, registry.title
        self.weeks = registry.weeks
        self.zone = ZoneInfo(registry.timezone)

    def week(self, name: str) -> Week:
        """Return the week of that name or number (`week01_lines`, `week01`, `week1`, `1`).

        Raise CourseError if there is no such week.
        """
        number = re.fullmatch(r"(?:week)?0*([0-9]+)", name)
        for week in self.weeks:
            if week.name == name or (number and int(week.name[4:6]) == int(number[1])):
                return week
        known = ", ".join(w.name for w in self.weeks)
        raise CourseError(f"{REGISTRY} has no week {name!r}; its weeks are {known}")

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

    def public_modules(self, week: Week) -> list[Path]:
        """Return the Python files that are released with a week, which hidden tests may call."""
        return [self.root / "assets" / name for name in week.public_modules]

    def test_files(self, week: Week) -> list[Path]:
        """Return the files that are released with a week and that hidden tests may read."""
        return [self.root / "assets" / name for name in week.test_files]

    def localized(self, moment: dt.datetime) -> dt.datetime:
        """Return an aware datetime; a naive `moment` is in the course's time zone."""
        return aware(moment, self.zone)

    @cached_property
    def state(self) -> Path:
        """The folder for results and the course's secret, accessible only to its owner."""
        folder = self.root / ".autograder"
        folder.mkdir(mode=0o700, exist_ok=True)
        return folder

    def state_file(self, kind: str, week: Week) -> Path:
        """Return the file with one kind of a week's state, such as the result of `collect`."""
        return self.state / kind / f"{week.name}.json"


def aware(moment: dt.datetime, zone: dt.tzinfo) -> dt.datetime:
    """Return an aware datetime; a naive `moment` is in `zone`."""
    return moment if moment.tzinfo else moment.replace(tzinfo=zone)
