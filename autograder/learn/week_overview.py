"""Compute a learner's points and open tasks in a week."""

import msgspec
from msgspec.structs import replace

from ..authoring.lesson.marking_guide import MarkingGuide, marking_guides
from ..model.course import Week
from ..model.report.scoring import counted, full_points
from .learner_record import LearnerFolder, WeekRecord


class WeekOverview(msgspec.Struct, frozen=True):
    """The progress in a week. `done`: the number of passed exercises and assessed questions."""

    week: Week
    number: int
    record: WeekRecord
    earned: float
    points: float
    done: int

    @property
    def next(self) -> str:
        """The first open task, or "" if the week is finished."""
        return next(iter(open_tasks(self.week, self.record)), "")

    @property
    def anchor(self) -> str:
        """The id of the next task on the week's page."""
        questions = {q.name for q in self.week.questions}
        return f"{'question' if self.next in questions else 'exercise'}-{self.next}"


def open_tasks(week: Week, record: WeekRecord) -> list[str]:
    """Return the exercises and questions that are neither done nor given up, in course order.

    Electives are omitted once the required number of them is done.
    """
    done = {*record.passed, *record.given_up, *record.met}
    electives = {e.name for e in week.exercises if e.elective}
    wanted = len(electives) if week.electives_counted is None else week.electives_counted
    settled = electives if len(electives & done) >= wanted else set()
    names = [*(e.name for e in week.exercises), *(q.name for q in week.questions)]
    return [name for name in names if name not in done | settled]


def question_score(guide: MarkingGuide, record: WeekRecord) -> float:
    """Return the points that the learner gave to an answer; 0 if the question was given up."""
    met = () if guide.question in record.given_up else record.met.get(guide.question, ())
    return sum(line.points for n, line in enumerate(guide.rubric) if n in met)


def overview(learner: LearnerFolder, week: Week) -> WeekOverview:
    record, guides = learner.record(week), marking_guides(learner.course, week)
    reports = record.report.exercises if record.report else ()
    earning = [replace(r, score=r.score * (r.name not in record.given_up)) for r in reports]
    answers = sum(question_score(guides[q.name], record) for q in week.questions)
    return WeekOverview(
        week=week,
        number=learner.course.weeks.index(week) + 1,
        record=record,
        earned=sum(r.score for r in counted(week, earning)) + answers,
        points=full_points(week) + sum(q.points for q in week.questions),
        done=len({*record.passed, *record.met} - {*record.given_up}),
    )


def overviews(learner: LearnerFolder) -> tuple[list[WeekOverview], WeekOverview | None]:
    """Return all weeks, and the week to continue with: the last visited one that is unfinished.

    If all visited weeks are finished, it is the next week; None if every week is finished.
    """
    weeks = [overview(learner, week) for week in learner.course.weeks]
    unfinished = [w for w in weeks if w.next]
    return weeks, max(unfinished, key=lambda w: w.record.visited, default=None)
