"""Handlers of the pages for instructors and assistants, and of students' regrade requests.

If a handler raises a KitError, the page shows its message, with the typed text (`routes`).
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
from ...model.submission_files import in_short
from ...nbgrader.collect.groups import groups_of, share_marks
from ...nbgrader.collect.inbound import is_name
from ...nbgrader.formgrader import written_answers
from ...nbgrader.formgrader.manual_marks import keep_marks
from ...nbgrader.gradebook.database import cell_states, read_students
from ...nbgrader.gradebook.due_dates import grant_extension
from ...nbgrader.gradebook.final_scores import final_scores, require_marked
from ...nbgrader.regrade import regrade_log
from ...pages.markdown import markdown
from ..login import RequestError, Role
from .gradebook_view import extra_time, gradebook_rows, granted_extensions
from .handlers import open_week
from .marking_view import GivenMark, guide_of, parse_points, question_page
from .request_context import RequestContext
from .staff_log import MarkDetail
from .view_models import in_words, local_time

_ROLES: tuple[Role, ...] = ("student", "assistant", "instructor")
_MAX_TEXT = 4000


# Marking


def marking(context: RequestContext) -> Response:
    """Show the number of answers to mark for each question of the released weeks, or of one."""
    courses = context.service.courses
    weeks = [open_week(context)] if "week" in context.request.path_params else courses.open_weeks()
    counts = written_answers.question_counts(courses.now)
    return context.page(
        "marking", weeks=[w for w in weeks if w.questions or len(weeks) == 1], counts=counts
    )


def question(context: RequestContext) -> Response:
    """Show the answers to a question. Query: `page`; `only`, a code; `separately`."""
    (week, asked), fields = _question(context), context.form.fields
    query = context.request.query_params
    page, together = query.get("page", "1"), "separately" not in query
    only = (fields.get("code") or "none") if context.error else query.get("only", "")
    number = int(page) if re.fullmatch(r"[0-9]{1,4}", page) else 1
    course, log = context.service.courses.now, context.service.staff_log
    view = question_page(course, log, week, asked, page=number, only=only, together=together)
    if context.error:  # keep what the marker has typed
        given = msgspec.structs.asdict(GivenMark.of(fields))
        cards = tuple(msgspec.structs.replace(c, **given) for c in view.cards)
        view = msgspec.structs.replace(view, cards=cards)
    return context.page("question", view=view, only=only, together=together, markdown=markdown)


def _question(context: RequestContext) -> tuple[Week, Question]:
    week, name = open_week(context), context.request.path_params["question"]
    for candidate in week.questions:
        if candidate.name == name:
            return week, candidate
    raise RequestError(404, "This week has no such question.")


def save_mark(context: RequestContext) -> Response:
    """Enter the mark for a group of answers; raise StaleMarkError if the group has changed."""
    (week, asked), fields = _question(context), context.form.fields
    code, given = fields.get("code", ""), GivenMark.of(fields)
    detail = given.detail(guide_of(context.service.courses.now, week, asked.name))
    _enter(context, week, asked.name, detail, given.comment)
    path = f"marking/{week.name}/{asked.name}"
    return context.redirect(f"{path}?only={code}" if "only" in fields else f"{path}#answer-{code}")


def _enter(
    context: RequestContext, week: Week, cell: str, detail: MarkDetail, comment: str | None = None
) -> None:
    course, fields = context.service.courses.now, context.form.fields
    shown = fields.get("code", ""), fields.get("version") or "-"
    group = written_answers.enter_mark(course, week, cell, *shown, detail.score, comment)
    share_marks(course, week)
    text = msgspec.json.encode(detail).decode()
    log, who = context.service.staff_log, context.person.name
    log.add(who, "mark", group.students, week.name, cell, text)


# Regrade requests


class RequestView(msgspec.Struct, frozen=True):
    """A regrade request. `group`: the cell that an open request is about, if any."""

    week: Week
    student: str
    request: regrade_log.RegradeRequest
    receipt: str
    group: written_answers.AnswerGroup | None


def requests(context: RequestContext) -> Response:
    """Show the open requests, then the answered ones."""
    course, queue = context.service.courses.now, context.service.queue
    states = {(s.week, s.student, s.cell): s for s in cell_states(course)}
    found = []
    for week in course.weeks:
        for student, request in regrade_log.read_requests(course, week).items():
            state = None if request.answer else states.get((week.name, student, request.about))
            submissions = queue.of_student(student, week.name)
            receipt = submissions[0].receipt if submissions else ""
            group = written_answers.group_of_one(course, week, state) if state else None
            found.append(RequestView(week, student, request, receipt, group))
    found.sort(key=lambda v: (bool(v.request.answer), v.request.asked))
    return context.page("requests", views=found)


def answer(context: RequestContext) -> Response:
    """Answer a regrade request, and change the mark if points are given."""
    fields, course = context.form.fields, context.service.courses.now
    week, student = open_week(context), fields.get("student", "")
    text, number = fields.get("text", "").strip(), fields.get("points", "").strip()
    with in_turn(regrade_log.requests_folder(course, week)):
        request = regrade_log.read_request(course, week, student) if is_name(student) else None
        if request is None or request.answer or request.asked != fields.get("asked"):
            raise written_answers.StaleMarkError(
                "The request has been answered or replaced in the meantime. Nothing was saved."
            )
        if not text:
            raise NbgraderError("Write an answer for the student. Nothing was saved.")
        if number:
            detail = MarkDetail(parse_points(number), (), parse_points(number))
            _enter(context, week, request.about, detail)
        regrade_log.answer_request(course, week, student, text[:_MAX_TEXT], context.person.name)
    who, log = context.person.name, context.service.staff_log
    log.add(who, "request", [student], week.name, request.about, text)
    return context.redirect("requests")


def ask(context: RequestContext) -> Response:
    """Store a student's regrade request for a graded week."""
    week, student, fields = open_week(context), context.person.name, context.form.fields
    if context.person.is_staff:
        raise RequestError(403, "Only students request regrades.")
    queue, most = context.service.queue, regrade_log.MAX_REQUEST_BYTES
    submissions = queue.of_student(student, week.name)
    graded = next((s for s in submissions if queue.verdict(s) is Ending.GRADED), None)
    if graded is None:
        raise RequestError(409, "You can request a regrade once your submission has been graded.")
    about, text = fields.get("about", ""), fields.get("text", "").strip()
    if about and about not in [
        *(e.name for e in week.exercises),
        *(q.name for q in week.questions),
    ]:
        raise RequestError(422, "This week has no such exercise or question.")
    data = text.encode("utf-8", "replace")
    if not 0 < len(data) <= most:
        raise RequestError(422, f"Give a reason of at most {most} bytes.")
    regrade_log.note_request(context.service.courses.now, week, student, data, about)
    return context.redirect(f"tries/{graded.receipt}#request")


# The class


def gradebook(context: RequestContext) -> Response:
    """Show students by weeks. Query: `q`, a part of a name; `only`, see `GradebookRow.shows`."""
    query, service = context.request.query_params, context.service
    course, open_weeks = service.courses.now, service.courses.open_weeks()
    weeks = [w for w in course.weeks if w in open_weeks]
    wanted, only = query.get("q", "").strip(), query.get("only", "")
    rows = gradebook_rows(course, service.queue, weeks)
    named = [row for row in rows if wanted.lower() in f"{row.student} {row.name}".lower()]
    return context.page(
        "gradebook",
        rows=rows,
        shown=[row for row in named if row.shows(only)],
        weeks=weeks,
        q=wanted,
        only=only,
        releases=service.staff_log.latest("feedback"),
        releasing=service.feedback.running,
        when=lambda seconds: in_short(local_time(seconds, course)),
    )


def release_feedback(context: RequestContext) -> Response:
    """Start to release a week's feedback, with unmarked answers only if the form allows it."""
    week, service = open_week(context), context.service
    if "unmarked" not in context.form.fields:
        require_marked(service.courses.now, [week])
    service.feedback.start(week, context.person.name)
    return context.redirect("gradebook#feedback")


def grades(context: RequestContext) -> Response:
    """Return the grades as CSV, as `autograder export all` does."""
    course = context.service.courses.now
    scores = {week.name: final_scores(course, week) for week in course.weeks}
    weeks = [week for week in course.weeks if scores[week.name]]
    if not weeks:
        raise NbgraderError("Nothing has been graded yet.")
    require_marked(course, weeks)
    context.service.staff_log.add(context.person.name, "export", [""])
    headers = {"content-disposition": 'attachment; filename="grades.csv"'}
    text = export("csv", weeks, scores, None, named=read_students(course)).text
    return Response(text, media_type="text/csv; charset=utf-8", headers=headers)


def extensions(context: RequestContext) -> Response:
    service = context.service
    return context.page(
        "extensions",
        extensions=granted_extensions(service.courses.now, service.staff_log),
        weeks=service.courses.open_weeks(),
        in_words=in_words,
        when=lambda seconds: in_short(local_time(seconds, service.courses.now)),
    )


def save_extension(context: RequestContext) -> Response:
    """Grant an extension to a student or a group, or remove a student's extension."""
    fields, service = context.form.fields, context.service
    course, week = service.courses.now, service.courses.week(fields.get("week", ""))
    student, reason = fields.get("student", "").strip(), fields.get("reason", "").strip()
    if week is None:
        raise NbgraderError("There is no such week.")
    students, extra = [student], dt.timedelta()
    if "group" in fields:
        students = next((g for g in groups_of(course, week) if student in g), students)
    if "remove" not in fields:
        if not reason:
            raise NbgraderError("Give a reason. Nothing was saved.")
        extra = extra_time(course, week, fields.get("until", ""), fields.get("hours", ""))
    grant_extension(course, week, students, extra)
    keep_marks(course)
    who, detail = context.person.name, "removed" if "remove" in fields else reason[:_MAX_TEXT]
    service.staff_log.add(who, "extension", students, week.name, detail=detail)
    return context.redirect("extensions")


def people(context: RequestContext, **new: str) -> Response:
    return context.page("people", people=context.service.accounts.people(), roles=_ROLES, new=new)


def create_person_token(context: RequestContext) -> Response:
    """Create a token with a role; the person's sessions end. Show the token once."""
    accounts, fields = context.service.accounts, context.form.fields
    name = fields.get("name", "").strip()
    role = next((r for r in _ROLES if r == fields.get("role")), None)
    if context.person.kind != "browser":
        raise NbgraderError("On a JupyterHub, the Hub decides who may sign in.")
    if not is_name(name) or role is None:
        raise NbgraderError("Use letters, digits and . @ - _ in a user name.")
    if name == context.person.name:
        raise NbgraderError("A new token would sign you out.")
    accounts.revoke(name)
    if "revoke" in fields:
        context.service.staff_log.add(context.person.name, "revoke", [name])
        return context.redirect("people")
    token = accounts.create_token(name, role)
    context.service.staff_log.add(context.person.name, "token", [name], detail=role)
    return people(context, name=name, role=role, token=token)
