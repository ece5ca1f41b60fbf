"""Define the routes and the roles that they require, and check requests before handlers run.

Anyone may send any request. Each row of `ROUTES` states who may use the route. A request passes
these checks in order: size (`request_limits`), rate limits, session, origin and role. Only then is
its body parsed. A form from a browser must also contain the session's form key.
"""

import asyncio
import sys
import time
from collections.abc import Awaitable, Callable
from typing import Any, Literal

import msgspec
from sqlalchemy.exc import SQLAlchemyError
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ...model.course.validation import split_url
from ...model.errors import IntakeError, KitError
from ...model.message_text import visible
from ...nbgrader.formgrader.written_answers import StaleMarkError
from ..grading_service import Service
from ..login import Login, Person, RequestError, Role
from ..request_limits import SMALL_BODY, RateLimit, RequestLimits
from ..submissions.upload import max_upload_bytes
from . import handlers
from . import staff_handlers as staff
from .request_context import RequestContext, read_form

Audience = Literal["everyone", "student", "staff", "instructor"]
# Limits as (burst, per minute). Requests without a known session are limited by IP address, which
# a whole class may share. Requests with a session are limited by user.
ADDRESS_RATE, PERSON_RATE, SUBMIT_RATE, TOKEN_RATE = (600, 600), (120, 240), (20, 20), (100, 100)
_STAFF: dict[Audience, tuple[Role, ...]] = {
    "staff": ("assistant", "instructor"),
    "instructor": ("instructor",),
}
_NOT_RECEIVED = "Your files were not received: keep them and try"
_MAX_RECOGNIZED = 50_000
_FORM_OVERHEAD = 1 << 20  # bytes that a form adds to its files


class RouteRow(msgspec.Struct, frozen=True):
    """A route and its audience. Staff may also use the routes for students.

    staff: instructors and assistants

    files: the body of a request may contain files
    form: shows the form again, with the error and the typed text, if the handler raises a KitError
    """

    method: str
    path: str
    audience: Audience
    handler: Callable[[RequestContext], Response]
    files: bool = False
    form: Callable[[RequestContext], Response] | None = None


ROUTES = (
    RouteRow("GET", "/health", "everyone", handlers.health),
    RouteRow("GET", "/static/{name}", "everyone", handlers.static),
    RouteRow("GET", "/enter", "everyone", handlers.begin_login),
    RouteRow("POST", "/enter", "everyone", handlers.redeem_token),
    RouteRow("GET", "/oauth_callback", "everyone", handlers.complete_login),
    RouteRow("POST", "/leave", "student", handlers.sign_out),
    RouteRow("POST", "/token", "student", handlers.create_token),
    RouteRow("GET", "/", "student", handlers.home),
    RouteRow("GET", "/weeks/{week}", "student", handlers.week_page),
    RouteRow("POST", "/weeks/{week}/review", "student", handlers.upload_draft, files=True),
    RouteRow("GET", "/weeks/{week}/review", "student", handlers.review),
    RouteRow("POST", "/weeks/{week}/tries", "student", handlers.submit, files=True),
    RouteRow("GET", "/weeks/{week}/feedback", "student", handlers.feedback),
    RouteRow("GET", "/tries/{receipt}", "student", handlers.submission_page),
    RouteRow("GET", "/tries/{receipt}/files", "student", handlers.download),
    RouteRow("POST", "/tries/{receipt}/restore", "student", handlers.restore),
    RouteRow("POST", "/weeks/{week}/request", "student", staff.ask),
    RouteRow("GET", "/class", "staff", handlers.class_page),
    RouteRow("GET", "/marking", "staff", staff.marking),
    RouteRow("GET", "/marking/{week}", "staff", staff.marking),
    RouteRow("GET", "/marking/{week}/{question}", "staff", staff.question),
    RouteRow("POST", "/marking/{week}/{question}", "staff", staff.save_mark, form=staff.question),
    RouteRow("GET", "/gradebook", "staff", staff.gradebook),
    RouteRow("GET", "/gradebook/grades.csv", "instructor", staff.grades),
    RouteRow(
        "POST",
        "/gradebook/{week}/feedback",
        "instructor",
        staff.release_feedback,
        form=staff.gradebook,
    ),
    RouteRow("GET", "/requests", "staff", staff.requests),
    RouteRow("POST", "/requests/{week}", "staff", staff.answer, form=staff.requests),
    RouteRow("GET", "/extensions", "staff", staff.extensions),
    RouteRow("POST", "/extensions", "instructor", staff.save_extension, form=staff.extensions),
    RouteRow("GET", "/people", "instructor", staff.people),
    RouteRow("POST", "/people", "instructor", staff.create_person_token, form=staff.people),
)


def application(service: Service, login: Login, lifespan: Any = None) -> RequestLimits:
    """Return the ASGI application with all routes, checks and limits."""
    access = AccessControl(service, login)
    address = service.settings.address
    base = address.prefix.rstrip("/")
    routes = [Route(base + row.path, access.endpoint(row), methods=[row.method]) for row in ROUTES]
    errors = {404: access.page_not_found}
    app = Starlette(routes=routes, lifespan=lifespan, exception_handlers=errors)

    def max_body(path: str) -> int:
        if not path.endswith(("/tries", "/review")):
            return SMALL_BODY
        course = service.courses.now
        limits = (max_upload_bytes(course.limits(week)) for week in course.weeks)
        return max(limits) + _FORM_OVERHEAD

    return RequestLimits(app, max_body=max_body, secure=address.secure)


class AccessControl:
    """Checks requests before their handlers run, and turns errors into responses."""

    def __init__(self, service: Service, login: Login) -> None:
        self.service, self.login = service, login
        self._by_address, self._by_name = RateLimit(*ADDRESS_RATE), RateLimit(*PERSON_RATE)
        self._tokens, self._submissions = RateLimit(*TOKEN_RATE), RateLimit(*SUBMIT_RATE)
        self._recognized: dict[int, None] = {}  # hashes of valid credentials, oldest first

    def endpoint(self, row: RouteRow) -> Callable[[Request], Awaitable[Response]]:
        async def endpoint(request: Request) -> Response:
            started = time.perf_counter()
            context = RequestContext(self.service, self.login, request)
            try:
                context.visitor = await self.authorize(request, row)
                response = await self._handle(context, row)
            except (RequestError, KitError, SQLAlchemyError, OSError) as error:
                response = await asyncio.to_thread(context.refuse, self._refusal(error, row))
            seconds = time.perf_counter() - started
            _log(row, context.visitor, response.status_code, seconds)
            return response

        return endpoint

    def _refusal(self, error: Exception, row: RouteRow) -> RequestError:
        if isinstance(error, RequestError):
            return error
        for_staff = row.audience in _STAFF and isinstance(error, KitError)
        if for_staff or isinstance(error, IntakeError):
            return RequestError(422, str(error))
        self.service.incidents.open("requests", f"a request failed: {type(error).__name__}")
        return RequestError(
            503,
            "The service cannot reach its database or disk at the moment. "
            + ("Nothing was saved: try" if row.audience in _STAFF else _NOT_RECEIVED)
            + " again in a minute.",
            60,
        )

    async def authorize(self, request: Request, row: RouteRow) -> Person | None:
        """Return the sender, or None if unauthenticated; raise RequestError if access is denied.

        Requests are limited by address before authentication, which may contact a JupyterHub.
        Requests whose credentials were valid before are limited only by user name.
        """
        address = request.client.host if request.client else ""
        headers = request.headers
        credentials = hash((headers.get("authorization"), headers.get("cookie")))
        if credentials not in self._recognized:
            _count(self._by_address, address)
        person = await asyncio.to_thread(self.login.authenticate, request)
        if person:
            self._recognized[credentials] = None
            while len(self._recognized) > _MAX_RECOGNIZED:
                del self._recognized[next(iter(self._recognized))]
            _count(self._by_name, person.name)
        else:
            self._recognized.pop(credentials, None)
        if row.handler is handlers.redeem_token:
            _count(self._tokens, address)
        if person is None and row.audience != "everyone":
            raise self.login.unauthenticated(request)
        _refuse_other_sites(request, split_url(self.service.settings.address.public_url).netloc)
        if row.audience in _STAFF and (person is None or person.role not in _STAFF[row.audience]):
            raise RequestError(404, "Page not found.")
        return person

    async def _handle(self, context: RequestContext, row: RouteRow) -> Response:
        person = context.visitor
        if row.method == "POST":
            if row.files and person is not None:
                _count(self._submissions, person.name)
            context.form = await read_form(context.request, with_files=row.files)
            browser = person is not None and person.kind != "program"
            if browser and context.form.fields.get("key") != context.person.form_key:
                raise RequestError(403, "This form has expired. Go back and reload the page.")
        try:
            return await asyncio.to_thread(row.handler, context)
        except KitError as error:
            if row.form is None:
                raise
            context.error = str(error)
            response = await asyncio.to_thread(row.form, context)
            response.status_code = 409 if isinstance(error, StaleMarkError) else 422
            return response

    async def page_not_found(self, request: Request, error: Exception) -> Response:
        context = RequestContext(self.service, self.login, request)
        return await asyncio.to_thread(context.refuse, RequestError(404, "Page not found."))


def _count(rate: RateLimit, key: str) -> None:
    wait = rate.wait(key)
    if wait:
        raise RequestError(429, f"Too many requests: wait {int(wait) + 1} s.", wait)


def _refuse_other_sites(request: Request, public_host: str) -> None:
    """Raise RequestError for requests from other sites or from users' notebook servers.

    Links from other sites to the service are allowed.
    """
    site = request.headers.get("sec-fetch-site", "same-origin")
    link = request.method == "GET" and request.headers.get("sec-fetch-mode") == "navigate"
    # a proxy may replace the Host header
    hosts = {request.headers.get("host", ""), public_host} - {""}
    origin, referer = request.headers.get("origin"), split_url(request.headers.get("referer", ""))
    same_origin = origin is None or split_url(origin).netloc in hosts
    if not same_origin or (site not in ("same-origin", "none") and not link):
        raise RequestError(403, "This request was sent by a page of another site.")
    if referer.netloc in hosts and "/user/" in referer.path:
        raise RequestError(
            403,
            "This request was sent by a page of a notebook server, which may belong to another "
            "student. Type the service's address into your browser instead.",
        )


def _log(row: RouteRow, person: Person | None, status: int, seconds: float) -> None:
    """Log a request as one line, without its query, headers or body."""
    name = person.name if person else "-"
    line = f"{row.method} {row.path} {status} {1000 * seconds:.0f} ms {name}"
    print(visible(line), file=sys.stderr, flush=True)
