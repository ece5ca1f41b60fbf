"""Handlers of the service's routes. Handlers block, so each request runs in a thread."""

import re
import time

import msgspec
from starlette.responses import JSONResponse, PlainTextResponse, Response

from ...model.course import Week
from ...model.errors import IntakeError
from ...nbgrader.collect.inbound import is_name
from ...nbgrader.regrade.regrade_log import read_request
from ...nbgrader.status import returned_page
from ...nbgrader.workspace import Workspace
from ..login import RequestError
from ..submissions.submitting import Review
from ..tables import QueuedSubmission
from .class_view import class_view
from .request_context import RequestContext
from .view_models import STATIC_TYPES, SubmissionView, static_file

_TOKEN = re.compile(r"[\w-]{10,100}\Z")
_RECEIPT = re.compile(r"[2-9A-Z]{4}(-[2-9A-Z]{4}){2}\Z")
_INCIDENT_SECONDS = 60.0  # age at which `health` checks whether an incident is over
# the released feedback page contains inline styles
_FEEDBACK_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'"
)

# For everyone


def health(context: RequestContext) -> Response:
    """Return status 200, or 503 while the database or disk fails, without details."""
    incidents, queue = context.service.incidents, context.service.queue
    failed = incidents.current.get("requests")
    if failed and time.time() - failed.since > _INCIDENT_SECONDS:
        queue.find("")  # raises an error if the database is down, so that the incident stays open
        incidents.close("requests")
    well = not {"database", "writing", "requests"} & set(incidents.current)
    return PlainTextResponse("well\n" if well else "in trouble\n", 200 if well else 503)


def static(context: RequestContext) -> Response:
    name = context.request.path_params["name"]
    if name not in STATIC_TYPES:
        raise RequestError(404, "Page not found.")
    headers = {"cache-control": "public, max-age=600"}
    return Response(static_file(name), media_type=STATIC_TYPES[name], headers=headers)


def begin_login(context: RequestContext) -> Response:
    if context.visitor is not None:
        return context.redirect("")
    return context.login.begin(context.request) or context.page("enter", wrong=False)


def complete_login(context: RequestContext) -> Response:
    return context.login.complete(context.request)


def redeem_token(context: RequestContext) -> Response:
    """Exchange a token for a session; return a cookie to browsers and a key to programs."""
    token = context.form.fields.get("token", "").strip()
    program = context.wants_json
    redeem = context.service.accounts.redeem
    person = redeem(token, "program" if program else "browser") if _TOKEN.match(token) else None
    if person is not None and program:
        return JSONResponse({"key": person.key, "name": person.name})
    if person is not None:
        return context.login.cookie.set_on(context.redirect(""), person.key)
    if not program:
        return context.page("enter", 401, wrong=True)
    raise RequestError(401, "This token is unknown or used. Ask your instructor for a new one.")


# For students


def sign_out(context: RequestContext) -> Response:
    context.service.accounts.end_session(context.person.key)
    return context.login.cookie.delete_from(context.redirect("enter"))


def create_token(context: RequestContext) -> Response:
    """Create a token for signing in with `autograder submit`."""
    if context.person.kind != "browser":
        raise RequestError(404, "Page not found.")
    token = context.service.accounts.create_token(context.person.name, context.person.role)
    return context.page("token", token=token)


def home(context: RequestContext) -> Response:
    if context.person.is_staff:
        return context.redirect("class")
    service = context.service
    open_weeks = service.courses.open_weeks()
    weeks = [service.views.week(context.person.name, week) for week in open_weeks]
    return context.page("home", weeks=weeks)


def week_page(context: RequestContext) -> Response:
    week = open_week(context)
    if context.person.is_staff:
        return context.redirect(f"marking/{week.name}")
    view = context.service.views.week(context.person.name, week)
    return context.answer(view, "week", week=view)


def upload_draft(context: RequestContext) -> Response:
    """Store the uploaded files as a draft, and show the review of the draft."""
    week, submissions = _week_of_student(context), context.service.submissions
    submissions.store_draft(context.person.name, week, _uploaded_files(context))
    return review(context) if context.wants_json else context.redirect(f"weeks/{week.name}/review")


def review(context: RequestContext) -> Response:
    """Show which parts of the submission the draft would replace, keep or leave missing."""
    week = _week_of_student(context)
    found = context.service.submissions.review_draft(context.person.name, week)
    if found is not None:
        return _review_page(context, week, found)
    if context.wants_json:
        raise RequestError(404, "There are no files to submit. Send them first.")
    return context.redirect(f"weeks/{week.name}")


def _review_page(
    context: RequestContext, week: Week, found: Review, *, outdated: bool = False
) -> Response:
    view = context.service.views.week(context.person.name, week)
    values = {"week": view, "review": found, "outdated": outdated}
    return context.answer(found, "review", 409 if outdated else 200, **values)


def submit(context: RequestContext) -> Response:
    """Submit the draft, or the files in the request; return the submission with its receipt."""
    week, student = _week_of_student(context), context.person.name
    channel = "command" if context.person.kind == "program" else "page"
    submissions = context.service.submissions
    left_out: list[str] = []
    if digest := context.form.fields.get("digest"):
        found = submissions.review_draft(student, week)
        if found is not None and found.digest != digest:
            if context.wants_json:
                raise IntakeError("You have submitted something else in the meantime.")
            return _review_page(context, week, found, outdated=True)
        submission = submissions.submit_draft(student, week, digest, channel)
    else:
        files = _uploaded_files(context)
        submission, left_out = submissions.submit(student, week, files, channel)
    if not context.wants_json:
        return context.redirect(f"tries/{submission.receipt}")
    view = msgspec.to_builtins(_submission_view(context, submission))
    return JSONResponse(view | {"left_out": left_out}, 201)


def _uploaded_files(context: RequestContext) -> dict[str, bytes]:
    if not context.form.files:
        raise IntakeError("No file was chosen. Choose your files, then press Continue.")
    return context.form.files


def restore(context: RequestContext) -> Response:
    """Make an earlier submission count again."""
    submission = visible_submission(context)
    if context.person.role == "assistant":
        raise RequestError(403, "Only students and instructors restore submissions.")
    if not context.service.views.submission(submission).restorable:
        raise RequestError(409, "This submission cannot be restored now. Ask your instructor.")
    context.service.queue.restore(submission.receipt)
    return context.redirect(f"tries/{submission.receipt}")


def submission_page(context: RequestContext) -> Response:
    view = _submission_view(context, visible_submission(context))
    course, week = context.service.courses.now, context.service.courses.week(view.week)
    asked = read_request(course, week, view.student) if week else None
    return context.answer(view, "try", submission=view, week=week, asked=asked)


def _submission_view(context: RequestContext, submission: QueuedSubmission) -> SubmissionView:
    staff = context.person.is_staff
    return context.service.views.submission(submission, for_instructor=staff)


def download(context: RequestContext) -> Response:
    """Return a submission's files as a zip."""
    submission = visible_submission(context)
    content = context.service.queue.content(submission.digest)
    headers = {"content-disposition": f'attachment; filename="{submission.receipt}.zip"'}
    return Response(content, media_type="application/zip", headers=headers)


def feedback(context: RequestContext) -> Response:
    """Return the feedback page for the week; raise RequestError before its release.

    Staff can read the page of any student: `?student=NAME`.
    """
    week, student = open_week(context), context.person.name
    if context.person.is_staff:
        student = context.request.query_params.get("student", student)
    workspace = Workspace(context.service.courses.now)
    page = returned_page(workspace, week, student) if is_name(student) else None
    if page is None:
        raise RequestError(404, "The feedback for this week has not been released yet.")
    headers = {"content-security-policy": _FEEDBACK_POLICY}
    return Response(page.read_bytes(), media_type="text/html; charset=utf-8", headers=headers)


# For instructors


def class_page(context: RequestContext) -> Response:
    service = context.service
    view = class_view(service.state, service.ledger, service.processes)
    return context.answer(view, "class", view=view)


# Lookups


def open_week(context: RequestContext) -> Week:
    """Return the week in the request's path; raise RequestError unless it has been released."""
    name = context.request.path_params["week"]
    for week in context.service.courses.open_weeks():
        if week.name == name:
            return week
    raise RequestError(404, "There is no such week, or it has not been released yet.")


def _week_of_student(context: RequestContext) -> Week:
    week = open_week(context)
    if context.person.role != "student":
        raise RequestError(403, "Only students submit here.")
    return week


def visible_submission(context: RequestContext) -> QueuedSubmission:
    """Return the submission in the path; raise RequestError if the sender may not see it."""
    receipt, person = context.request.path_params["receipt"], context.person
    submission = context.service.queue.find(receipt) if _RECEIPT.match(receipt) else None
    if submission is None or not (person.is_staff or submission.student == person.name):
        raise RequestError(404, "You have no such receipt.")
    return submission
