"""What the routes of students do. Each blocks, and is called in a thread."""

from __future__ import annotations

import re
import time
from typing import Any

import msgspec
from starlette.exceptions import HTTPException
from starlette.formparsers import MultiPartException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response

from ...model.course.loader import Week
from ...model.errors import IntakeError
from ...nbgrader.status import returned_page
from ...nbgrader.workspace import Workspace
from ..auth.accounts import Person
from ..auth.login import Door, with_session
from ..queue.queue import Try
from ..service import Service
from ..submissions.review import Review
from .responses import RequestError, see, shown, wants_json
from .templating import STATIC, static
from .view_models import as_json

_TICKET = re.compile(r"[\w-]{10,100}\Z")
_RECEIPT = re.compile(r"[2-9A-Z]{4}(-[2-9A-Z]{4}){2}\Z")
_MOST_FILES = 400
_FORGOTTEN = 60.0  # seconds after which a request that failed is the past, if the database answers
# The feedback page brings its own styles, as nbgrader hands it out.
_FEEDBACK = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'"


class Sent(msgspec.Struct):
    """What was posted."""

    fields: dict[str, str] = {}
    files: dict[str, bytes] = {}
    raw: bytes = b""


async def read_body(request: Request, form: str, service: Service) -> Sent:
    """The body of a request whose sender is known, within its bounds; raises RequestError."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    try:
        if form == "files" and kind == "application/zip":
            return Sent(raw=await request.body())
        most = _MOST_FILES if form == "files" else 0
        async with request.form(max_files=most, max_fields=8, max_part_size=4096) as data:
            sent = Sent(fields={}, files={})
            for name, value in data.multi_items():
                if isinstance(value, str):
                    sent.fields[name] = value
                elif value.filename:
                    if value.filename in sent.files:
                        raise RequestError(422, f"{value.filename!r} is in it twice. Send one.")
                    sent.files[value.filename] = await value.read()
            return sent
    except (MultiPartException, HTTPException, ValueError):
        raise RequestError(400, "This form cannot be read. Send it again.") from None
    except ClientDisconnect:
        raise RequestError(400, "It did not arrive as a whole. Send it again.") from None
    except TimeoutError:
        raise RequestError(408, "It took too long to arrive. Send it again.") from None


# For anybody


def health(service: Service, door: Door, request: Request, who: Person | None) -> Response:
    """For whoever watches over services: no word but whether it is well."""
    failed = service.troubles.now.get("requests")
    if failed and time.time() - failed.since > _FORGOTTEN:
        service.queue.waiting()  # or it is said anew
        service.troubles.end("requests")
    well = not {"database", "writing", "requests"} & set(service.troubles.now)
    return PlainTextResponse("well\n" if well else "in trouble\n", 200 if well else 503)


def static_file(service: Service, door: Door, request: Request, who: Person | None) -> Response:
    name = request.path_params["name"]
    if name not in STATIC:
        raise RequestError(404, "There is nothing here.")
    answer = Response(static(name), media_type=STATIC[name])
    answer.headers["cache-control"] = "public, max-age=600"
    return answer


def entrance(service: Service, door: Door, request: Request, who: Person | None) -> Response:
    if who is not None:
        return see(service, "")
    return door.entrance(request) or shown(service, request, None, "enter", wrong=False)


def from_hub(service: Service, door: Door, request: Request, who: Person | None) -> Response:
    _, answer = door.returned(request)
    return answer


def enter(
    service: Service, door: Door, request: Request, who: Person | None, sent: Sent
) -> Response:
    """A token becomes a session: a cookie for browsers, a key for `autograder submit`."""
    token = sent.fields.get("token", "").strip()
    program = wants_json(request)
    fits = bool(_TICKET.match(token))
    person = service.people.enter(token, "program" if program else "browser") if fits else None
    if person is None:
        if program:
            raise RequestError(401, "This token is unknown or was used. Ask for another one.")
        return shown(service, request, None, "enter", 401, wrong=True)
    if program:
        return JSONResponse({"key": person.key, "name": person.name})
    answer = see(service, "")
    return with_session(answer, person, door.cookie)


# For students


def leave(service: Service, door: Door, request: Request, who: Person, sent: Sent) -> Response:
    service.people.leave(who.key)
    answer = RedirectResponse(f"{service.settings.prefix}enter", 303)
    door.cookie.remove(answer)
    return answer


def own_token(service: Service, door: Door, request: Request, who: Person, sent: Sent) -> Response:
    """A token with which `autograder submit` on the student's own machine gets a session."""
    if who.kind != "browser":
        raise RequestError(404, "There is nothing here.")
    token = service.people.token(who.name, who.role)
    return shown(service, request, who, "token", token=token)


def home(service: Service, door: Door, request: Request, who: Person) -> Response:
    if who.role == "instructor":
        return see(service, "class")
    weeks = [service.views.week(who.name, week) for week in service.courses.open_weeks()]
    return shown(service, request, who, "home", weeks=weeks)


def week_page(service: Service, door: Door, request: Request, who: Person) -> Response:
    week = _week(service, request)
    view = service.views.week(who.name, week)
    if wants_json(request):
        return JSONResponse(msgspec.to_builtins(view))
    return shown(service, request, who, "week", week=view, problem="")


def send_files(service: Service, door: Door, request: Request, who: Person, sent: Sent) -> Response:
    """Keep files as a draft; the answer says what would change if they were submitted."""
    week = _week_of_student(service, request, who)
    try:
        service.send(who.name, week, _files(sent))
    except IntakeError as error:
        return _not_taken(service, request, who, week, error)
    if wants_json(request):
        return review(service, door, request, who)
    return see(service, f"weeks/{week.name}/review")


def review(service: Service, door: Door, request: Request, who: Person) -> Response:
    """Show what submitting the draft would keep, replace or leave missing."""
    week = _week_of_student(service, request, who)
    found = service.review(who.name, week)
    if wants_json(request):
        if found is None:
            raise RequestError(404, "There are no files to submit. Send them first.")
        return JSONResponse(msgspec.to_builtins(found))
    if found is None:
        return see(service, f"weeks/{week.name}")
    return _reviewed(service, request, who, week, found)


def _reviewed(
    service: Service,
    request: Request,
    who: Person,
    week: Week,
    found: Review,
    *,
    changed: bool = False,
) -> Response:
    view = service.views.week(who.name, week)
    status = 409 if changed else 200
    values = {"week": view, "review": found, "changed": changed}
    return shown(service, request, who, "review", status, **values)


def hand_in(service: Service, door: Door, request: Request, who: Person, sent: Sent) -> Response:
    """Submit the draft, or files that a program sends at once; the answer is a receipt."""
    week = _week_of_student(service, request, who)
    by = "command" if who.kind == "program" else "page"
    left_out: list[str] = []
    try:
        if "digest" in sent.fields:
            found = service.review(who.name, week)
            digest = sent.fields["digest"]
            if found is not None and found.digest != digest:
                if wants_json(request):
                    raise IntakeError("You have submitted something else in the meantime.")
                return _reviewed(service, request, who, week, found, changed=True)
            one = service.submit_draft(who.name, week, digest, by)
        else:
            one, left_out = service.hand_in(who.name, week, _files(sent), by)
    except IntakeError as error:
        return _not_taken(service, request, who, week, error)
    if not wants_json(request):
        return see(service, f"tries/{one.receipt}")
    stand = service.views.standing(who.name, week)
    data = as_json(service.views.one(one), stand) | {"left_out": left_out}
    return JSONResponse(data, 201)


def _week_of_student(service: Service, request: Request, who: Person) -> Week:
    week = _week(service, request)
    if who.role != "student":
        raise RequestError(403, "Only students submit here.")
    return week


def _files(sent: Sent) -> dict[str, bytes]:
    files = {"submission.zip": sent.raw} if sent.raw else sent.files
    if not files:
        raise IntakeError("No file was chosen. Choose your files, then press Continue.")
    return files


def _not_taken(
    service: Service, request: Request, who: Person, week: Week, error: IntakeError
) -> Response:
    if wants_json(request):
        raise RequestError(422, str(error)) from None
    view = service.views.week(who.name, week)
    return shown(service, request, who, "week", 422, week=view, problem=str(error))


def restore(service: Service, door: Door, request: Request, who: Person, sent: Sent) -> Response:
    """Let an earlier submission count again."""
    one = own_try(service, request, who)
    view = service.views.one(one, viewer=who)
    if not view.restorable:
        raise RequestError(409, "This submission cannot be restored now. Ask your instructor.")
    service.queue.choose(one.receipt)
    return see(service, f"tries/{one.receipt}")


def try_page(service: Service, door: Door, request: Request, who: Person) -> Response:
    one = own_try(service, request, who)
    view = service.views.one(one, viewer=who)
    week = service.courses.week(one.week)
    stand = service.views.standing(one.student, week) if week else None
    if wants_json(request):
        return JSONResponse(as_json(view, stand))
    return shown(service, request, who, "try", one=view, standing=stand)


def files(service: Service, door: Door, request: Request, who: Person) -> Response:
    """What was handed in, back as a zip."""
    one = own_try(service, request, who)
    answer = Response(service.queue.content(one.digest), media_type="application/zip")
    answer.headers["content-disposition"] = f'attachment; filename="{one.receipt}.zip"'
    return answer


def feedback(service: Service, door: Door, request: Request, who: Person) -> Response:
    """The week's page of feedback, once it was returned."""
    week = _week(service, request)
    page = returned_page(Workspace(service.courses.now), week, who.name)
    if page is None:
        raise RequestError(404, "The feedback of this week is not out yet.")
    answer = Response(page.read_bytes(), media_type="text/html; charset=utf-8")
    answer.headers["content-security-policy"] = _FEEDBACK
    return answer


def _week(service: Service, request: Request) -> Week:
    """A week that is out, by exactly its name."""
    name = request.path_params["week"]
    for week in service.courses.open_weeks():
        if week.name == name:
            return week
    raise RequestError(404, "There is no such week, or it is not out yet.")


def own_try(service: Service, request: Request, who: Person) -> Try:
    """The try of that receipt, if it is one that this person may see."""
    receipt: Any = request.path_params["receipt"]
    one = service.queue.find(receipt) if _RECEIPT.match(receipt) else None
    if one is None or (who.role != "instructor" and one.student != who.name):
        raise RequestError(404, "You have no such receipt.")
    return one
