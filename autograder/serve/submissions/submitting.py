"""Merge uploaded files with the student's earlier submission, and review and store the result.

Two submissions of a student may arrive at the same time. The transaction that stores a merged
submission checks that no other submission has arrived since the merge. If one has arrived, the
files are merged again.
"""

import contextlib
from collections.abc import Iterator, Sequence

import msgspec
import sqlalchemy as sa

from ...lms.bulk import FilesRead
from ...model.course import Week
from ...model.errors import IntakeError
from ...model.report.schema import Ending
from ...model.submission_files import Files, digest_of, in_short, packed, parse_timestamp
from ...nbgrader.collect.history import SubmittedPart
from ...nbgrader.collect.inbound import ExchangeSubmission
from ...nbgrader.collect.merging import Merged, merge
from ...nbgrader.collect.submissions import earlier_files
from ...nbgrader.workspace import Workspace
from .. import tables as t
from ..attempt_feedback import allowance, counting_rule
from ..queue import Admission
from ..recording import format_received, history_of, is_pending
from ..shared_state import SharedState
from ..tables import REPLACED, QueuedSubmission, Store, of_student, recency
from ..views.view_models import local_time
from . import upload

_DRAFT_SECONDS = 86_400.0


class Drafts(Store):
    """Stores for a day the files that a student has not confirmed yet. All methods block."""

    def store(self, student: str, week: str, files: Files, rejected: Sequence[str]) -> None:
        """Store a draft, replacing the student's earlier draft."""
        expired = t.drafts.c.created < self.clock() - _DRAFT_SECONDS
        row = {"data": packed(files), "left_out": "\n".join(rejected), "created": self.clock()}
        draft = self.upsert(t.drafts, student, week, **row)
        self.execute(t.drafts.delete().where(expired), draft)

    def find(self, student: str, week: str) -> FilesRead | None:
        query = sa.select(t.drafts).where(of_student(t.drafts, student, week))
        row = self.read(query).first()
        return (upload.unpacked(row.data), row.left_out.splitlines()) if row else None

    def discard(self, student: str, week: str) -> None:
        self.execute(t.drafts.delete().where(of_student(t.drafts, student, week)))


class Base(msgspec.Struct, frozen=True):
    """The earlier submission that new files are merged with; `files` is empty if there is none.

    received: seconds since the epoch, or None if unknown or if answers were merged into the files
    version: changes whenever the student submits or restores a submission
    """

    files: dict[str, bytes]
    received: float | None
    version: tuple[int, float]


class ReviewLine(msgspec.Struct, frozen=True):
    """A part of the submission, its fate (see `SubmittedPart`), and words for the student."""

    name: str
    fate: str
    words: str


class Review(msgspec.Struct, frozen=True):
    """A preview of the submission that would be graded. `digest`: hash of the merged files."""

    lines: tuple[ReviewLine, ...]
    summary: str
    rule: str
    stays: str  # a sentence about the earlier submission, shown if there is a problem
    digest: str
    problem: str = ""
    notes: tuple[str, ...] = ()


class _OutdatedBase(Exception):
    """Another submission of the student was stored or restored after the base was read."""


class Submissions:
    """Accepts, reviews and stores submissions. All methods block."""

    def __init__(self, state: SharedState, drafts: Drafts) -> None:
        self.courses, self.queue, self.drafts = state.courses, state.queue, drafts

    def submit(
        self, student: str, week: Week, uploaded: Files, channel: str
    ) -> tuple[QueuedSubmission, list[str]]:
        """Submit files. Return the submission, and a line for each rejected file.

        Return the student's newest submission if the files change nothing. Raise IntakeError if the
        files cannot be graded.
        """
        files, left_out = self._accept(week, uploaded)
        return self._submit(student, week, files, channel), left_out

    def submit_from_exchange(self, found: ExchangeSubmission, files: Files) -> QueuedSubmission:
        """Submit files from the exchange. If they cannot be graded, the result reports why.

        Raise IntakeError if the files have a problem and do not change the earlier submission.
        """
        week = self.courses.now.week(found.week)
        # Students can forge the timestamp, so it must not be later than now.
        received = min(found.submitted.timestamp(), self.queue.clock())
        return self._submit(found.student, week, files, "exchange", found.source, received)

    def _submit(
        self,
        student: str,
        week: Week,
        files: Files,
        channel: str,
        source: str | None = None,
        received: float | None = None,
    ) -> QueuedSubmission:
        course, extension = self.courses.now, self.courses.extension(student, week.name)
        while True:
            base = self.base(student, week)
            merged = self._merge(week, base, files)
            if merged.problem and (source is None or merged.files == base.files):
                raise IntakeError(merged.problem)

            def admit(
                earlier: Sequence[QueuedSubmission], version: object = base.version
            ) -> Admission:
                if _version(earlier) != version:
                    raise _OutdatedBase
                allowed = allowance(course, week, student, earlier, self.queue.clock(), extension)
                return Admission(allowed.withheld, allowed.wait)

            with contextlib.suppress(_OutdatedBase):
                return self.queue.add(
                    student,
                    week.name,
                    packed(merged.files),
                    digest_of(merged.files),
                    channel=channel,
                    admit=admit,
                    source=source,
                    received=base.received if merged.unchanged and not source else received,
                )

    def store_draft(self, student: str, week: Week, uploaded: Files) -> None:
        """Store files as the student's draft. Raise IntakeError if they cannot be accepted."""
        files, left_out = self._accept(week, uploaded)
        self.drafts.store(student, week.name, files, left_out)

    def review_draft(self, student: str, week: Week) -> Review | None:
        """Return the review of the student's draft, or None if the student has no draft."""
        draft = self.drafts.find(student, week.name)
        if draft is None:
            return None
        files, left_out = draft
        course, base = self.courses.now, self.base(student, week)
        when = in_short(local_time(base.received, course)) if base.received else ""
        merged = self._merge(week, base, files)
        rule = counting_rule(course)
        return review_of(merged, when if base.files else None, rule, left_out)

    def submit_draft(self, student: str, week: Week, digest: str, channel: str) -> QueuedSubmission:
        """Submit the student's draft. Raise IntakeError if it cannot be graded or has expired.

        Return the existing submission if the draft has already been submitted.

        digest: `Review.digest` of the review that the student has confirmed
        """
        draft = self.drafts.find(student, week.name)
        if draft is None:
            for submission in self.queue.of_student(student, week.name):
                if submission.digest == digest:
                    return submission
            raise IntakeError("Choose your files again: the service no longer has them.")
        files, _ = draft
        submission = self._submit(student, week, files, channel)
        self.drafts.discard(student, week.name)
        return submission

    def base(self, student: str, week: Week) -> Base:
        """Return the submission that the student's next submission is merged with.

        Include written answers from newer submissions that were refused.
        """
        course, submissions = self.courses.now, self.queue.of_student(student, week.name)
        history = history_of(course, week, student)
        base_time = history.base.handed_in if history.base else ""
        moment = parse_timestamp(base_time)
        files = earlier_files(course, week, student)
        received = moment.timestamp() if moment else None
        refused: list[dict[str, bytes]] = []
        for submission in sorted(submissions, key=recency, reverse=True):
            if submission.state == REPLACED:
                continue
            content = upload.unpacked(self.queue.content(submission.digest))
            if self.queue.verdict(submission) is Ending.REFUSED:
                refused.append({n: data for n, data in content.items() if n.endswith(".ipynb")})
                continue
            same = base_time == format_received(submission.received)
            if same or is_pending(history, submission):
                files, received = content, submission.received
            break
        merged = files
        for notebooks in filter(None, reversed(refused)):
            merged = merge(course, week, merged, notebooks).files
        return Base(merged, received if merged == files else None, _version(submissions))

    def _merge(self, week: Week, base: Base, files: Files) -> Merged:
        course = self.courses.now
        merged = merge(course, week, base.files, files)
        if merged.unchanged and base.files:
            merged = msgspec.structs.replace(merged, files=base.files)
        if merged.problem:
            return merged
        if any(p.kind == "module" and p.fate == "missing" for p in merged.parts):
            problem = f"{week.module} is missing. Submit {week.module} and your notebook together."
            return msgspec.structs.replace(merged, problem=problem)
        return merged

    def _accept(self, week: Week, uploaded: Files) -> FilesRead:
        course = self.courses.now
        if not Workspace(course).released(week).is_dir():
            raise IntakeError(f"{week.title} has not been released yet.")
        return upload.accept_files(uploaded, week, course.limits(week))


def _version(submissions: Sequence[QueuedSubmission]) -> tuple[int, float]:
    number = max((s.number for s in submissions), default=0)
    return number, max((s.restored for s in submissions), default=0.0)


_WORDS = {
    "new": "new",
    "replaced": "replaces the one from {}",
    "same": "unchanged since {}",
    "kept": "kept from {}",
    "refused": "cannot be graded: kept from {}",
    "missing": "missing",
}
_ANSWER_WORDS = _WORDS | {"missing": "not answered"}


def review_of(merged: Merged, base: str | None, rule: str, rejected: Sequence[str] = ()) -> Review:
    """Describe a merged submission.

    base: time of the earlier submission, "" if unknown, None if there is no earlier submission
    """
    earlier = f"Your submission from {base}" if base else "Your earlier submission"
    missing = ", ".join(part.name for part in merged.parts if part.fate == "missing")
    summary = f"Missing: {missing}." if missing else "Nothing is missing."
    notes = [note.text for note in merged.notes if note.kind != "kept"]
    return Review(
        lines=tuple(_lines(merged.parts, base or "your earlier submission")),
        summary="These files do not change your submission." if merged.unchanged else summary,
        rule=rule,
        stays="" if base is None else f"{earlier} stays as it is.",
        digest=digest_of(merged.files),
        problem=merged.problem,
        notes=(*notes, *(f"Not accepted: {line}" for line in rejected)),
    )


def _lines(parts: Sequence[SubmittedPart], time: str) -> Iterator[ReviewLine]:
    """Yield a line for each file, and one line for all answers with the same fate."""
    answers: dict[str, list[str]] = {}
    for part in parts:
        if part.kind == "answer":
            answers.setdefault(part.fate, []).append(part.name)
        else:
            yield ReviewLine(part.name, part.fate, _WORDS[part.fate].format(time))
    for fate, names in answers.items():
        noun = "Answer" if len(names) == 1 else "Answers"
        yield ReviewLine(f"{noun}: {', '.join(names)}", fate, _ANSWER_WORDS[fate].format(time))
