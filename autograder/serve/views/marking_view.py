"""Build the pages for marking written answers question by question."""

import re
from collections.abc import Collection, Mapping
from typing import Self

import msgspec
from markupsafe import Markup

from ...authoring.lesson.marking_guide import MarkingGuide, marking_guides
from ...files import in_turn
from ...model.course import Course, Week
from ...model.course.registry import Question
from ...model.errors import NbgraderError
from ...model.message_text import first_names
from ...model.submission_files import in_short
from ...nbgrader.formgrader import written_answers
from ...nbgrader.gradebook.report_store import recorded_folder
from ...pages.environment import points
from .staff_log import MarkDetail, StaffAction, StaffLog
from .view_models import local_time

CARDS_PER_PAGE = 40
_LINE = re.compile(r"line(\d{1,2})\Z")
_NUMBER = re.compile(r"[+-]?\d{1,4}([.,]\d{1,4})?\Z")


class AnswerCard(msgspec.Struct, frozen=True):
    """A group of equal answers with its form; the last three fields fill the form."""

    group: written_answers.AnswerGroup
    title: str
    entered: str
    text: Markup
    lines: Collection[int] = ()
    adjustment: str = ""
    comment: str = ""


class QuestionPage(msgspec.Struct, frozen=True):
    """Answers to one question. `to_mark` and `total` count groups on all pages."""

    week: Week
    question: Question
    guide: MarkingGuide
    cards: tuple[AnswerCard, ...]
    to_mark: int
    total: int
    page: int
    pages: int


class GivenMark(msgspec.Struct, frozen=True):
    """The content of a marking form. `lines`: the points of the chosen lines of the rubric."""

    lines: dict[int, str]
    adjustment: str
    comment: str

    @classmethod
    def of(cls, fields: Mapping[str, str]) -> Self:
        lines = {int(m[1]): points for name, points in fields.items() if (m := _LINE.match(name))}
        comment = fields.get("comment", "").strip().replace("\r\n", "\n")
        return cls(lines, fields.get("adjustment", "").strip(), comment)

    def detail(self, guide: MarkingGuide) -> MarkDetail:
        """Return the mark; raise NbgraderError if there is none or the rubric has changed."""
        if not self.lines and not self.adjustment:
            raise NbgraderError(
                "Choose lines of the rubric or enter points (0 for none). Nothing was saved."
            )
        now = {n: points(line.points) for n, line in enumerate(guide.rubric)}
        if not self.lines.items() <= now.items():
            raise NbgraderError("The rubric has changed: reload the page. Nothing was saved.")
        extra = parse_points(self.adjustment or "0")
        total = sum(guide.rubric[n].points for n in self.lines) + extra
        return MarkDetail(round(total, 6), tuple(self.lines), extra)


def parse_points(text: str) -> float:
    """Return the number in a form's field; raise NbgraderError if it is not a number."""
    if not _NUMBER.match(text):
        raise NbgraderError(f"{text[:20]!r} is not a number. Nothing was saved.")
    return float(text.replace(",", "."))


def guide_of(course: Course, week: Week, question: str) -> MarkingGuide:
    """Return the marking guide of a question, which is empty if there is none."""
    return marking_guides(course, week).get(question) or MarkingGuide(question, "", (), ())


def question_page(
    course: Course,
    log: StaffLog,
    week: Week,
    question: Question,
    *,
    page: int,
    only: str,
    together: bool,
) -> QuestionPage:
    """Return a page of the answers to a question, or only the group with the code `only`."""
    guide = guide_of(course, week, question.name)
    marks = log.latest("mark", week=week.name, cell=question.name)
    with in_turn(recorded_folder(course, week)):  # so that versions and texts match
        groups = written_answers.answer_groups(course, week, question.name, together=together)
        total, to_mark = len(groups), sum(g.state.waiting for g in groups)
        if only:
            found = written_answers.find_group(course, week, question.name, only)
            groups = [found] if found else []
        pages = max(1, -(-len(groups) // CARDS_PER_PAGE))
        page = min(max(page, 1), pages)
        shown = groups[(page - 1) * CARDS_PER_PAGE : page * CARDS_PER_PAGE]
        cards = tuple(_card(course, week, group, marks) for group in shown)
    return QuestionPage(week, question, guide, cards, to_mark, total, page, pages)


def _card(
    course: Course,
    week: Week,
    group: written_answers.AnswerGroup,
    marks: Mapping[tuple[str, str, str], StaffAction],
) -> AnswerCard:
    state, student = group.state, group.students[0]
    action = marks.get((student, week.name, state.cell))
    detail = msgspec.json.decode(action.detail, type=MarkDetail) if action else None
    lines: Collection[int] = ()
    adjustment = "" if state.manual is None else points(state.manual)
    who = ""
    # Formgrader, or a marking sheet, may have entered a different mark since then.
    if action and detail and detail.score == state.manual:
        lines = detail.lines
        adjustment = points(detail.adjustment) if detail.adjustment or not lines else ""
        who = f", entered by {action.who} on {in_short(local_time(action.at, course))}"
    score = "" if state.score is None else f"{points(state.score)} of {points(state.points)}"
    entered = {
        "to mark": "To mark",
        "changed": f"The answer has changed since it was marked: {score}{who}",
        "marked": f"{score}{who}",
        "automatic": "Not answered: 0 points",
    }[state.status]
    text = written_answers.rendered_answer(course, week, state.cell, student)
    return AnswerCard(group, _title(course, group), entered, text, lines, adjustment, state.comment)


def _title(course: Course, group: written_answers.AnswerGroup) -> str:
    anonymous = course.registry.anonymous_marking
    names = [f"Answer {c}" for c in group.codes] if anonymous else sorted(group.students)
    listed = first_names(names, 6)
    return listed if len(names) == 1 else f"{len(names)} equal answers: {listed}"
