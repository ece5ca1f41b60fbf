"""Pushing a week's grades to a learning platform, once each, and going on where it stopped.

Before a grade is sent it is noted in `.autograder/pushes/<platform>-<week>.json`, and after the
platform has answered it is noted again. Whatever stops a push in between (a kill, a lost answer),
the next one asks the platform what it holds, and sends only what is not there: a comment carries a
mark at its end (`ref 1a2b3c4d`, made of its own text) by which it is found again.

What somebody entered on the platform by hand is not overwritten: it is neither what was pushed last
nor what would be pushed now, and is named.
"""

from __future__ import annotations

import datetime as dt
import fcntl
import hashlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum

import msgspec

from ...files.atomic import replace_file
from ...lms.grade_files import total
from ...lms.roster import Roster
from ...model.course.loader import Course, Week
from ...model.errors import KitError, PlatformError
from .platforms import HeldGrade, Platform

_SMALL = 1e-4
_LONGEST = 8000


class Todo(Enum):
    """What a push would do about one student."""

    WRITE = "write"
    SAME = "same"
    CHANGED_THERE = "changed there"


class Pushed(msgspec.Struct, frozen=True):
    """The points that the platform took last, and those on their way if an answer is missing."""

    points: float | None = None
    sending: float | None = None
    at: str = ""

    def may_hold(self, points: float) -> bool:
        """Return whether such points there are of our own making."""
        own = (p for p in (self.points, self.sending) if p is not None)
        return any(abs(p - points) <= _SMALL for p in own)


@dataclass(frozen=True)
class PlannedGrade:
    """One student's grade on its way."""

    student: str
    number: str
    points: float
    comment: str | None  # None if it is there already, or none is wanted
    before: float | None
    todo: Todo


@dataclass
class Push:
    """What a push will do, or did."""

    plan: list[PlannedGrade]
    unmatched: list[str]
    notes: list[str] = field(default_factory=list)
    written: list[str] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)

    def of(self, todo: Todo) -> list[PlannedGrade]:
        return [one for one in self.plan if one.todo is todo]


def plan_push(
    course: Course,
    week: Week,
    platform: Platform,
    scores: Mapping[str, float],
    comments: Mapping[str, str],
    *,
    overwrite: bool = False,
) -> Push:
    """Compare what stands here with what the platform holds; nothing is written."""
    people = platform.people()
    matched, unmatched = Roster("plain", (), tuple(people)).match(scores)
    held, kept = platform.held(), _Journal(course, week, platform.name).read()
    plan = []
    for student, entry in sorted(matched.items()):
        there = held.get(entry.number, HeldGrade())
        comment = _new_comment(week, student, comments.get(student), there)
        todo = _todo(scores[student], comment, there, kept.get(student), overwrite)
        plan.append(
            PlannedGrade(student, entry.number, scores[student], comment, there.points, todo)
        )
    push = Push(plan, unmatched)
    most = platform.most()
    if most is not None and abs(most - total(week)) > _SMALL:
        push.notes.append(
            f"the assignment is worth {most:g} there and {total(week):g} here: points are sent as "
            "they are"
        )
    return push


def _todo(
    points: float, comment: str | None, there: HeldGrade, last: Pushed | None, overwrite: bool
) -> Todo:
    same = there.points is not None and abs(there.points - points) <= _SMALL
    if same:
        return Todo.SAME if comment is None else Todo.WRITE
    ours = there.points is None or (last is not None and last.may_hold(there.points))
    return Todo.WRITE if ours or overwrite else Todo.CHANGED_THERE


def carry_out_push(
    course: Course,
    week: Week,
    platform: Platform,
    push: Push,
    on_done: Callable[[], None] = lambda: None,
) -> None:
    """Write what is planned; a failure of one student does not stop the others."""
    journal = _Journal(course, week, platform.name)
    with journal.alone():
        for one in push.of(Todo.WRITE):
            journal.note(one, done=False)
            try:
                said = _write(platform, week, one)
            except PlatformError as error:
                push.failed[one.student] = str(error)
            else:
                journal.note(one, done=True)
                push.written.append(one.student)
                if said and said not in push.notes:
                    push.notes.append(said)
            on_done()


def _write(platform: Platform, week: Week, one: PlannedGrade) -> str:
    """Send one grade; if the answer was lost, look whether it arrived before sending it again."""
    try:
        return platform.write(one.number, one.points, total(week), one.comment)
    except PlatformError as error:
        if not error.unsure:
            raise
    there = platform.held().get(one.number, HeldGrade())
    arrived = there.points is not None and abs(there.points - one.points) <= _SMALL
    comment = one.comment if one.comment is not None and not _stands(one.comment, there) else None
    if arrived and comment is None:
        return ""
    return platform.write(one.number, one.points, total(week), comment)


def _new_comment(week: Week, student: str, text: str | None, there: HeldGrade) -> str | None:
    """The comment with its mark; None if it stands there, or there is none."""
    if not text:
        return None
    short = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}\n[...]"
    comment = f"{short}\n\n({_ref(week, student, short)})"
    return None if _stands(comment, there) else comment


def _stands(comment: str, there: HeldGrade) -> bool:
    mark = comment.rpartition("\n")[2]
    return any(mark in held for held in there.comments)


def _ref(week: Week, student: str, text: str) -> str:
    about = f"{week.name}\0{student}\0{text}".encode()
    return f"ref {hashlib.blake2b(about, digest_size=4).hexdigest()}"


class _Journal:
    """What was sent to one platform for one week."""

    def __init__(self, course: Course, week: Week, platform: str) -> None:
        folder = course.state / "pushes"
        folder.mkdir(exist_ok=True, mode=0o700)
        self._path = folder / f"{platform}-{week.name}.json"

    def read(self) -> dict[str, Pushed]:
        """By student; nothing if nothing was ever pushed."""
        try:
            return msgspec.json.decode(self._path.read_bytes(), type=dict[str, Pushed])
        except FileNotFoundError:
            return {}
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
            raise KitError(
                f"{self._path}: cannot be read; without it nobody knows what was pushed: take it "
                "from a backup, or remove it and look at --dry-run"
            ) from None

    def note(self, one: PlannedGrade, *, done: bool) -> None:
        """Note a grade before it is sent, and once it is there."""
        kept = self.read()
        now = dt.datetime.now(dt.UTC).isoformat(timespec="seconds")
        before = kept.get(one.student, Pushed())
        kept[one.student] = Pushed(
            one.points if done else before.points, None if done else one.points, now
        )
        replace_file(self._path, msgspec.json.encode(kept))

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Nobody else pushes this week there meanwhile; raises KitError if somebody does."""
        with self._path.with_suffix(".lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise KitError(
                    "another push of this week is running: wait until it has ended"
                ) from None
            yield
