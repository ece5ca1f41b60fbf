"""Handlers of the pages for instructors and assistants, and of students' regrade requests.

A KitError that a handler raises is shown to staff as it is (`routes`).
"""

import datetime as dt
import re

import msgspec
from starlette.responses import Response

from ...files import in_turn
from ...lms.grade_files import export
from ...model.course import Week
from ...model.course.registry import Question
from ...model.errors import NbgraderError
from ...model.report.schema import Ending
from ...nbgrader.collect.groups import groups_of, share_marks
from ...nbgrader.formgrader.manual_marks import keep_marks
from ...nbgrader.formgrader.written_answers import (
    AnswerGroup,
    StaleMarkError,
    cell_states,
    enter_mark,
    group_of_one,
    question_counts,
)
from ...nbgrader.gradebook.database import read_students
from ...nbgrader.gradebook.due_dates import grant_extension
from ...nbgrader.gradebook.final_scores import final_scores, require_marked
from ...nbgrader.regrade.regrade_log import (
    MAX_REQUEST_BYTES,
    RegradeRequest,
    answer_request,
    note_request,
    read_request,
    read_requests,
    requests_folder,
)
from ...pages.markdown import markdown
from ..login import RequestError, Role, is_name
from .gradebook_view import extra_time, gradebook_rows, granted_extensions
from .handlers import open_week
from .marking_view import GivenMark, guide_of, parse_points, question_page
from .request_context import RequestContext
from .staff_log import MarkDetail, StaffAction
from .view_models import in_short, in_words, local_time

_LINE = re.compile(r"line(\d{1,2})\Z")
_ROLES: tuple[Role, ...] = ("student", "assistant", "instructor")
_MAX_TEXT = 4000


# Marking


def marking(context: RequestContext) -> Response:
    """Show the number of answers to mark for each question of the released weeks, or of one."""
    courses = context.service.courses
    weeks = [open_week(context)] if "week" in context.request.path_params else courses.open_weeks()
    counts = question_counts(courses.now)
    return context.page(
        "marking", weeks=[w for w in weeks if w.questions or len(weeks) == 1], counts=counts
    )


def question(context: RequestContext) -> Response:
    query = context.request.query_params
    page = query.get("page", "1")
    return _question_page(
        context,
        page=int(page) if re.fullmatch(r"[0-9]{1,4}", page) else 1,
        only=query.get("only", ""),
        together="separately" not in query,
    )


def _question_page(
    context: RequestContext,
    status: int = 200,
    error: str = "",
    given: GivenMark | None = None,
    *,
    page: int = 1,
    only: str = "",
    together: bool = True,
) -> Response:
    week, asked = _question(context)
    course, log = context.service.courses.now, context.service.staff_log
    view = question_page(course, log, week, asked, page=page, only=only, together=together)
    if given is not None:  # keep what the marker has typed
        fields = msgspec.structs.asdict(given)
        cards = tuple(msgspec.structs.replace(c, **fields) for c in view.cards)
        view = msgspec.structs.replace(view, cards=cards)
    values = {"view": view, "error": error, "only": only, "together": together}
    return context.page("question", status, markdown=markdown, **values)


def _question(context: RequestContext) -> tuple[Week, Question]:
    week, name = open_week(context), context.request.path_params["question"]
    for candidate in week.questions:
        if candidate.name == name:
            return week, candidate
    raise RequestError(404, "This week has no such question.")


def save_mark(context: RequestContext) -> Response:
    """Enter the mark for a group of answers; show the answers as they are now if it is stale."""
    (week, asked), fields = _question(context), context.form.fields
    course, code = context.service.courses.now, fields.get("code", "")
    lines = {int(m[1]): points for name, points in fields.items() if (m := _LINE.match(name))}
    adjustment, comment = fields.get("adjustment", "").strip(), fields.get("comment", "").strip()
    given = GivenMark(lines, adjustment, comment.replace("\r\n", "\n"))
    try:
        detail = given.detail(guide_of(course, week, asked.name))
        _enter(context, week, asked.name, code, detail, given.comment)
    except NbgraderError as error:
        status = 409 if isinstance(error, StaleMarkError) else 422
        return _question_page(context, status, str(error), given, only=code or "none")
    path = f"marking/{week.name}/{asked.name}"
    return context.redirect(f"{path}?only={code}" if "only" in fields else f"{path}#answer-{code}")


def _enter(
    context: RequestContext,
    week: Week,
    cell: str,
    code: str,
    detail: MarkDetail,
    comment: str | None = None,
) -> None:
    course, version = context.service.courses.now, context.form.fields.get("version", "")
    group = enter_mark(course, week, cell, code, version or "-", detail.score, comment)
    share_marks(course, week)
    text, who = msgspec.json.encode(detail).decode(), context.person.name
    actions = (StaffAction(who, "mark", s, week.name, cell, text) for s in group.students)
    context.service.staff_log.add(*actions)


# Regrade requests


class RequestView(msgspec.Struct, frozen=True):
    """A regrade request. `group`: the cell that an open request is about, if any."""

    week: Week
    student: str
    request: RegradeRequest
    receipt: str
    group: AnswerGroup | None


def requests(context: RequestContext, status: int = 200, error: str = "") -> Response:
    """Show the open requests, then the answered ones."""
    course, queue = context.service.courses.now, context.service.queue
    states = {(s.week, s.student, s.cell): s for s in cell_states(course)}
    found = []
    for week in course.weeks:
        for student, request in read_requests(course, week).items():
            state = None if request.answer else states.get((week.name, student, request.about))
            submissions = queue.of_student(student, week.name)
            receipt = submissions[0].receipt if submissions else ""
            group = group_of_one(course, week, state) if state else None
            found.append(RequestView(week, student, request, receipt, group))
    found.sort(key=lambda v: (bool(v.request.answer), v.request.asked))
    return context.page("requests", status, views=found, error=error, typed=context.form.fields)


def answer(context: RequestContext) -> Response:
    """Answer a regrade request, and change the mark if points are given."""
    fields = context.form.fields
    week, student = open_week(context), fields.get("student", "")
    course = context.service.courses.now
    text, number = fields.get("text", "").strip(), fields.get("points", "").strip()
    try:
        with in_turn(requests_folder(course, week)):
            request = read_request(course, week, student) if is_name(student) else None
            if request is None or request.answer or request.asked != fields.get("asked"):
                raise StaleMarkError(
                    "The request has been answered or replaced in the meantime. Nothing was saved."
                )
            if not text:
                raise NbgraderError("Write an answer for the student. Nothing was saved.")
            if number:
                detail = MarkDetail(parse_points(number), (), parse_points(number))
                _enter(context, week, request.about, fields.get("code", ""), detail)
            answer_request(course, week, student, text[:_MAX_TEXT], context.person.name)
    except NbgraderError as error:
        return requests(context, 409 if isinstance(error, StaleMarkError) else 422, str(error))
    action = StaffAction(context.person.name, "request", student, week.name, request.about, text)
    context.service.staff_log.add(action)
    return context.redirect("requests")


def ask(context: RequestContext) -> Response:
    """Store a student's regrade request for a graded week."""
    week, student, fields = open_week(context), context.person.name, context.form.fields
    if context.person.is_staff:
        raise RequestError(403, "Only students request regrades.")
    queue = context.service.queue
    submissions = queue.of_student(student, week.name)
    if not any(queue.verdict(s) is Ending.GRADED for s in submissions):
        raise RequestError(409, "You can request a regrade once your submission has been graded.")
    about, text = fields.get("about", ""), fields.get("text", "").strip()
    names = {e.name for e in week.exercises} | {q.name for q in week.questions}
    if about and about not in names:
        raise RequestError(422, "This week has no such exercise or question.")
    data = text.encode("utf-8", "replace")
    if not 0 < len(data) <= MAX_REQUEST_BYTES:
        raise RequestError(422, f"Give a reason of at most {MAX_REQUEST_BYTES} bytes.")
    note_request(context.service.courses.now, week, student, data, about)
    graded = next(s for s in submissions if queue.verdict(s) is Ending.GRADED)
    return context.redirect(f"tries/{graded.receipt}#request")


# The class


def gradebook(context: RequestContext, status: int = 200, error: str = "") -> Response:
    """Show students by weeks. Query: `q`, a part of a name; `only`, see `GradebookRow.shows`."""
    query, service = context.request.query_params, context.service
    course, open_weeks = service.courses.now, service.courses.open_weeks()
    weeks = [w for w in course.weeks if w in open_weeks]
    wanted, only = query.get("q", "").strip(), query.get("only", "")
    rows = gradebook_rows(course, service.queue, weeks)
    shown = [
        row
        for row in rows
        if wanted.lower() in f"{row.student} {row.name}".lower() and row.shows(only)
    ]
    return context.page(
        "gradebook",
        status,
        rows=rows,
        shown=shown,
        weeks=weeks,
        q=wanted,
        only=only,
        error=error,
        releases=service.staff_log.latest("feedback"),
        releasing=service.feedback.running,
        when=lambda seconds: in_short(local_time(seconds, course)),
    )


def release_feedback(context: RequestContext) -> Response:
    """Start to release a week's feedback, with unmarked answers only if the form allows it."""
    week, service = open_week(context), context.service
    try:
        if "unmarked" not in context.form.fields:
            require_marked(service.courses.now, [week])
        service.feedback.start(week, context.person.name)
    except NbgraderError as error:
        return gradebook(context, 422, str(error))
    return context.redirect("gradebook#feedback")


def grades(context: RequestContext) -> Response:
    """Return the grades as CSV, as `autograder export all` does."""
    course = context.service.courses.now
    scores = {week.name: final_scores(course, week) for week in course.weeks}
    weeks = [week for week in course.weeks if scores[week.name]]
    if not weeks:
        raise NbgraderError("Nothing has been graded yet.")
    require_marked(course, weeks)
    context.service.staff_log.add(StaffAction(context.person.name, "export", ""))
    headers = {"content-disposition": 'attachment; filename="grades.csv"'}
    text = export("csv", weeks, scores, None, named=read_students(course)).text
    return Response(text, media_type="text/csv; charset=utf-8", headers=headers)


def extensions(context: RequestContext, status: int = 200, error: str = "") -> Response:
    service = context.service
    return context.page(
        "extensions",
        status,
        extensions=granted_extensions(service.courses.now, service.staff_log),
        weeks=service.courses.open_weeks(),
        error=error,
        typed=context.form.fields,
        in_words=in_words,
        when=lambda seconds: in_short(local_time(seconds, service.courses.now)),
    )


def save_extension(context: RequestContext) -> Response:
    """Grant an extension to a student or a group, or remove a student's extension."""
    fields, service = context.form.fields, context.service
    course, week = service.courses.now, service.courses.week(fields.get("week", ""))
    student, reason = fields.get("student", "").strip(), fields.get("reason", "").strip()
    try:
        if week is None:
            raise NbgraderError("There is no such week.")
        students = [student]
        if "group" in fields:
            students = next((g for g in groups_of(course, week) if student in g), students)
        if "remove" in fields:
            extra = dt.timedelta()
        elif not reason:
            raise NbgraderError("Give a reason. Nothing was saved.")
        else:
            extra = extra_time(course, week, fields.get("until", ""), fields.get("hours", ""))
        grant_extension(course, week, students, extra)
    except (ValueError, OverflowError):
        message = "Enter a due date after the week's own, or a number of hours. Nothing was saved."
        return extensions(context, 422, message)
    except NbgraderError as error:
        return extensions(context, 422, str(error))
    keep_marks(course)
    who, detail = context.person.name, "removed" if "remove" in fields else reason[:_MAX_TEXT]
    service.staff_log.add(
        *(StaffAction(who, "extension", s, week.name, "", detail) for s in students)
    )
    return context.redirect("extensions")


def people(context: RequestContext, status: int = 200, error: str = "", **new: str) -> Response:
    found = context.service.accounts.people()
    return context.page("people", status, people=found, roles=_ROLES, error=error, new=new)


def create_person_token(context: RequestContext) -> Response:
    """Create a token with a role; the person's sessions end. Show the token once."""
    accounts, fields = context.service.accounts, context.form.fields
    name = fields.get("name", "").strip()
    role = next((r for r in _ROLES if r == fields.get("role")), None)
    if context.person.kind != "browser":
        return people(context, 422, "On a JupyterHub, the Hub decides who may sign in.")
    if not is_name(name) or role is None:
        return people(context, 422, "Use letters, digits and . @ - _ in a user name.")
    if name == context.person.name:
        return people(context, 422, "A new token would sign you out.")
    accounts.revoke(name)
    if "revoke" in fields:
        context.service.staff_log.add(StaffAction(context.person.name, "revoke", name))
        return context.redirect("people")
    token = accounts.create_token(name, role)
    context.service.staff_log.add(StaffAction(context.person.name, "token", name, detail=role))
    return people(context, name=name, role=role, token=token)
