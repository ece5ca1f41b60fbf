"""Compute what the pages show: the progress in each week, and the tasks of one week."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial

from markupsafe import Markup
from msgspec.structs import replace

from ..authoring.lesson.marking_guide import MarkingGuide, marking_guides
from ..feedback.view import ExerciseView, view_exercise
from ..model.course import Course, Week
from ..model.course.bank import Bank
from ..model.course.stubs import without_marks
from ..model.report.schema import ExerciseReport
from ..model.report.scoring import counted, full_points
from ..pages.markdown import markdown
from ..student.folder.lessons import Hint, hints_of, hints_to_show
from ..student.folder.week import WeekFolder
from .learner_record import LearnerFolder, WeekRecord


@dataclass(frozen=True)
class WeekProgress:
    """The progress in a week.

    done:     the number of exercises that passed and of questions that are assessed
    given_up: the exercises and questions that the learner gave up
    next:     the first task that is neither done nor given up, or "" if the week is finished
    """

    week: Week
    number: int
    earned: float
    points: float
    done: int
    tasks: int
    given_up: tuple[str, ...]
    next: str
    visited: float

    @property
    def next_kind(self) -> str:
        return "question" if self.next in {q.name for q in self.week.questions} else "exercise"

    @property
    def share(self) -> float:
        return min(1.0, self.earned / self.points) if self.points else 0.0


def open_tasks(week: Week, record: WeekRecord) -> list[str]:
    """Return the exercises and questions that are neither done nor given up, in their order.

    Electives are left out once as many of them are done as count.
    """
    done = {*record.passed, *record.given_up, *record.met}
    electives = {e.name for e in week.exercises if e.elective}
    wanted = len(electives) if week.electives_counted is None else week.electives_counted
    settled = electives if len(electives & done) >= wanted else set()
    names = [*(e.name for e in week.exercises), *(q.name for q in week.questions)]
    return [name for name in names if name not in done | settled]


def progress_of(learner: LearnerFolder, week: Week) -> WeekProgress:
    record = learner.record(week)
    reports = record.report.exercises if record.report else ()
    without = [replace(r, score=0.0) if r.name in record.given_up else r for r in reports]
    guides = marking_guides(learner.course, week)
    answers = sum(question_score(guides[q.name], record) for q in week.questions)
    return WeekProgress(
        week=week,
        number=learner.course.weeks.index(week) + 1,
        earned=sum(r.score for r in counted(week, without)) + answers,
        points=full_points(week) + sum(q.points for q in week.questions),
        done=len(record.passed) + len({*record.met} - {*record.given_up}),
        tasks=len(week.exercises) + len(week.questions),
        given_up=tuple(record.given_up),
        next=next(iter(open_tasks(week, record)), ""),
        visited=record.visited,
    )


def question_score(guide: MarkingGuide, record: WeekRecord) -> float:
    """Return the points that the learner gave to an answer; 0 if the question was given up."""
    if guide.question in record.given_up:
        return 0.0
    met = record.met.get(guide.question, ())
    return sum(line.points for n, line in enumerate(guide.rubric) if n in met)


def current_week(weeks: Iterable[WeekProgress]) -> WeekProgress | None:
    """Return the week to continue with: the last visited one unless it is finished, else the next.

    Return None if all weeks are finished.
    """
    unfinished = [w for w in weeks if w.next]
    return max(unfinished, key=lambda w: (w.visited, -w.number), default=None)


@dataclass(frozen=True)
class ExerciseTask:
    """An exercise on the week's page. `more_hints`: the number of hints not shown yet."""

    view: ExerciseView
    elective: bool
    passed: bool
    given_up: bool
    hints: list[Hint]
    more_hints: int


@dataclass(frozen=True)
class QuestionTask:
    """A question on the week's page; `answer` is None until the notebook contains an answer.

    model_answer, rubric: shown after the learner has answered or given up
    """

    name: str
    points: float
    score: float
    answer: Markup | None
    opened: bool
    given_up: bool
    assessed: bool
    model_answer: Markup
    rubric: list[tuple[float, Markup, bool]]
    wrong_answers: list[tuple[Markup, Markup]]


def exercise_tasks(learner: LearnerFolder, week: Week, folder: WeekFolder) -> list[ExerciseTask]:
    record = learner.record(week)
    reports = {e.name: e for e in record.report.exercises} if record.report else {}
    tasks = []
    for e in week.exercises:
        hints, _ = hints_to_show(folder, e.name, again=True)
        tasks.append(
            ExerciseTask(
                view=view_exercise(
                    reports.get(e.name) or ExerciseReport(e.name, 0.0, e.points), e.points
                ),
                elective=e.elective,
                passed=e.name in record.passed,
                given_up=e.name in record.given_up,
                hints=hints,
                more_hints=len(hints_of(folder, e.name)) - len(hints),
            )
        )
    return tasks


def question_tasks(learner: LearnerFolder, week: Week) -> list[QuestionTask]:
    record, answers = learner.record(week), learner.answers(week)
    guides, shown = marking_guides(learner.course, week), partial(markdown, below=3)
    tasks = []
    for q in week.questions:
        guide, met = guides[q.name], record.met.get(q.name, ())
        tasks.append(
            QuestionTask(
                name=q.name,
                points=q.points,
                score=question_score(guide, record),
                answer=shown(answers[q.name]) if q.name in answers else None,
                opened=record.shows_solution(q.name),
                given_up=q.name in record.given_up,
                assessed=q.name in record.met,
                model_answer=shown(guide.model_answer),
                rubric=[
                    (r.points, shown(r.earned_by), n in met) for n, r in enumerate(guide.rubric)
                ],
                wrong_answers=[(shown(w.answer), shown(w.comment)) for w in guide.wrong_answers],
            )
        )
    return tasks


def solution_source(course: Course, week: Week) -> str:
    """Return the source of the week's solution, without its markers."""
    return without_marks(Bank(course, week).solution)
