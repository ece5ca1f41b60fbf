"""From files that arrive to a submission in the queue: merged with what is kept, or refused.

Two submissions of one student may arrive at once. Each is merged with the one before it, so the
transaction that stores it checks that no other arrived since it was merged; otherwise it is merged
again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import msgspec

from ..model.course import Week
from ..model.errors import IntakeError
from ..model.parcel import digest_of, packed
from ..model.timestamps import parse_timestamp
from ..model.verdicts import Ending
from ..nbgrader.merging import Merged, merge
from ..nbgrader.submissions import earlier_files
from ..nbgrader.workspace import Workspace
from . import parcel
from .courses import Courses
from .current import history_of, overrules
from .drafts import Drafts
from .inbox import FoundHandIn
from .news import News
from .policy import counting_rule, standing
from .queue import GRADED, REPLACED, Admission, Queue, Try, precedence
from .review import Review, review_of
from .views import in_short


class Base(msgspec.Struct, frozen=True):
    """The submission whose parts a new one keeps; without files if there is none."""

    files: dict[str, bytes]
    received: float | None
    version: tuple[int, float]


class _Outdated(Exception):
    """Another submission of the student arrived, or was restored, since the base was read."""


class Submitting:
    """What the service does with files that arrive. Methods block."""

    courses: Courses
    queue: Queue
    drafts: Drafts
    news: News

    def wake(self) -> None:
        """Tell the dispatcher that there is something to do; from a thread."""
        raise NotImplementedError

    def hand_in(
        self, student: str, week: Week, sent: Mapping[str, bytes], door: str
    ) -> tuple[Try, list[str]]:
        """Submit files; return the try, and a line for each file that is not taken.

        The same files as in the student's newest submission are that submission. Raise IntakeError
        if the submission cannot be graded.
        """
        files, left_out = self._gathered(week, sent)

        def submit() -> Try:
            base = self.base(student, week)
            merged = self.merged(week, base, files)
            if merged.problem:
                raise IntakeError(merged.problem)
            received = base.received if merged.unchanged else None
            return self._queued(student, week, merged.files, base, door, received=received)

        return _until_current(submit), left_out

    def take_found(self, found: FoundHandIn, sent: dict[str, bytes]) -> Try:
        """Submit what lies in the exchange; what cannot be graded is stored with the reason."""
        week = self.courses.now.week(found.week)
        # Whoever makes a folder writes the time into its name; none is from a time to come.
        received = min(found.handed_in.timestamp(), self.queue.clock())

        def submit() -> Try:
            base = self.base(found.student, week)
            merged = self.merged(week, base, sent)
            files = merged.files
            if merged.problem:
                files = {**sent, parcel.PROBLEM: merged.problem.encode()}
            return self._queued(
                found.student,
                week,
                files,
                base,
                "exchange",
                source=found.source,
                received=received,
                refused=bool(merged.problem),
            )

        return _until_current(submit)

    def send(self, student: str, week: Week, sent: Mapping[str, bytes]) -> None:
        """Keep files as the student's draft; raises IntakeError."""
        files, left_out = self._gathered(week, sent)
        self.drafts.keep(student, week.name, files, left_out)

    def review(self, student: str, week: Week) -> Review | None:
        """Return what submitting the student's draft would change, or None without a draft."""
        draft = self.drafts.find(student, week.name)
        if draft is None:
            return None
        course, base = self.courses.now, self.base(student, week)
        when = in_short(base.received, course.zone) if base.received else ""
        merged = self.merged(week, base, draft.files)
        return review_of(
            merged, when if base.files else None, counting_rule(course), draft.left_out
        )

    def submit_draft(self, student: str, week: Week, digest: str, door: str) -> Try:
        """Submit the student's draft; raises IntakeError. A second click submits nothing again."""
        draft = self.drafts.find(student, week.name)
        if draft is None:
            for one in self.queue.of(student, week.name):
                if one.digest == digest:
                    return one
            raise IntakeError("Choose your files again: what you sent before is no longer here.")
        one, _ = self.hand_in(student, week, draft.files, door)
        self.drafts.discard(student, week.name)
        return one

    def base(self, student: str, week: Week) -> Base:
        """Return the submission whose parts a new one keeps.

        Of newer ones that were refused for their module it has the written answers.
        """
        course, tries = self.courses.now, self.queue.of(student, week.name)
        history, refused = history_of(course, week, student), []
        moment = parse_timestamp(history.base.handed_in) if history.base else None
        received = moment.timestamp() if moment else None
        base = Base(earlier_files(course, week, student), received, _version(tries))
        for one in sorted(tries, key=precedence, reverse=True):
            if one.state == REPLACED:
                continue
            files = parcel.unpacked(self.queue.content(one.digest))
            if parcel.PROBLEM in files or self._refused(one):
                refused.append(files)
                continue
            if not overrules(history, one):
                base = Base(files, one.received, _version(tries))
            break
        return self._with_answers(week, base, refused)

    def _with_answers(self, week: Week, base: Base, refused: list[dict[str, bytes]]) -> Base:
        files = base.files
        for each in reversed(refused):
            notebooks = {name: data for name, data in each.items() if name.endswith(".ipynb")}
            if notebooks:
                files = merge(self.courses.now, week, files, notebooks).files
        if files == base.files:
            return base
        return Base(files, None, base.version)

    def _refused(self, one: Try) -> bool:
        result = self.queue.result(one.receipt) if one.state == GRADED else None
        return result is not None and result.verdict is Ending.REFUSED

    def merged(self, week: Week, base: Base, files: Mapping[str, bytes]) -> Merged:
        """Return a submission whole: files that were sent, and what is kept from before."""
        course = self.courses.now
        merged = merge(course, week, base.files, files)
        if merged.unchanged and base.files:
            merged = msgspec.structs.replace(merged, files=base.files)
        if merged.problem or course.registry.modules_from_notebook:
            return merged
        missing = any(p.kind == "module" and p.fate == "missing" for p in merged.parts)
        problem = (
            f"There is no {week.module} in it. Submit {week.module} and your notebook together."
        )
        return msgspec.structs.replace(merged, problem=problem if missing else "")

    def _gathered(
        self, week: Week, sent: Mapping[str, bytes]
    ) -> tuple[dict[str, bytes], list[str]]:
        course = self.courses.now
        if not Workspace(course).released(week).is_dir():
            raise IntakeError(f"{week.title} has not been released yet.")
        return parcel.gather(sent, week, course.limits(week))

    def _queued(
        self,
        student: str,
        week: Week,
        files: Mapping[str, bytes],
        base: Base,
        door: str,
        *,
        source: str | None = None,
        received: float | None = None,
        refused: bool = False,
    ) -> Try:
        """Store a submission; raise _Outdated if `base` is not the newest one any more.

        refused: it cannot be graded, so it uses up no attempt and replaces nothing.
        """
        course = self.courses.now
        more = self.courses.more_time(student, week.name)

        def admit(earlier: Sequence[Try]) -> Admission:
            if _version(earlier) != base.version:
                raise _Outdated
            stand = standing(course, week, student, earlier, self.queue.clock(), more)
            return Admission(stand.held or refused, stand.wait)

        one = self.queue.hand_in(
            student,
            week.name,
            packed(files),
            digest_of(files),
            door=door,
            admit=admit,
            source=source,
            received=received,
            replace=not refused,
        )
        tries = self.queue.of(student, week.name)
        self.news.stir(*(t.receipt for t in tries if t.state == REPLACED))
        self.wake()
        return one


def _until_current(submit: Callable[[], Try]) -> Try:
    while True:
        try:
            return submit()
        except _Outdated:
            continue


def _version(tries: Sequence[Try]) -> tuple[int, float]:
    """Return what changes with every new or restored submission of a student."""
    return max((t.number for t in tries), default=0), max((t.chosen for t in tries), default=0.0)
