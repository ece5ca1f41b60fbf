"""Every route, who may take it, and what stands before it.

A route is a row of `ROUTES`: nothing is served that is not there, and what is there says who may
ask. The way of each request: the guard (size, by its head), the sender's address or name (rate),
who it is, which site's page sent it, whether the role may, whether a form is ours; then, and only
then, its body is parsed.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Awaitable, Callable
from typing import Any, Literal
from urllib.parse import SplitResult, urlsplit

import msgspec
from sqlalchemy.exc import SQLAlchemyError
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ...model.visible import visible
from ..auth.accounts import Person
from ..auth.login import Door
from ..auth.request_limits import SMALL, Guard, Rate
from ..service import Service
from ..submissions.upload import most_bytes
from . import events, instructor_actions, student_actions
from .responses import RequestError, refusal

Who = Literal["anybody", "student", "instructor"]
Answer = Callable[..., Response]
# Before somebody is known their address is counted, which a class may share; afterwards their name.
_STRANGERS, _MEMBERS, _HAND_INS, _TOKENS = (600, 600), (120, 240), (20, 20), (100, 100)
_MOST_RECOGNIZED = 50_000


class RouteRow(msgspec.Struct, frozen=True):
    """A route. `student`: students, and instructors, who see everybody's."""

    method: str
    path: str
    who: Who
    answer: Any
    form: str = ""  # what is posted: "", form or files
    live: bool = False  # it stays open


ROUTES = (
    RouteRow("GET", "/health", "anybody", student_actions.health),
    RouteRow("GET", "/static/{name}", "anybody", student_actions.static_file),
    RouteRow("GET", "/enter", "anybody", student_actions.entrance),
    RouteRow("POST", "/enter", "anybody", student_actions.enter, form="form"),
    RouteRow("GET", "/oauth_callback", "anybody", student_actions.from_hub),
    RouteRow("POST", "/leave", "student", student_actions.leave, form="form"),
    RouteRow("POST", "/token", "student", student_actions.own_token, form="form"),
    RouteRow("GET", "/", "student", student_actions.home),
    RouteRow("GET", "/weeks/{week}", "student", student_actions.week_page),
    RouteRow("POST", "/weeks/{week}/review", "student", student_actions.send_files, form="files"),
    RouteRow("GET", "/weeks/{week}/review", "student", student_actions.review),
    RouteRow("POST", "/weeks/{week}/tries", "student", student_actions.hand_in, form="files"),
    RouteRow("GET", "/weeks/{week}/feedback", "student", student_actions.feedback),
    RouteRow("GET", "/tries/{receipt}", "student", student_actions.try_page),
    RouteRow("GET", "/tries/{receipt}/files", "student", student_actions.files),
    RouteRow("POST", "/tries/{receipt}/restore", "student", student_actions.restore, form="form"),
    RouteRow("GET", "/tries/{receipt}/events", "student", events.of_try, live=True),
    RouteRow("GET", "/class", "instructor", instructor_actions.class_page),
    RouteRow("GET", "/class/events", "instructor", events.of_class, live=True),
    RouteRow(
        "POST", "/class/tries/{receipt}/again", "instructor", instructor_actions.again, form="form"
    ),
)


def application(service: Service, door: Door, lifespan: Any = None) -> Guard:
    """The whole application."""
    gate = Gate(service, door)
    prefix = service.settings.prefix.rstrip("/")
    routes = [Route(f"{prefix}{row.path}", gate.way(row), methods=[row.method]) for row in ROUTES]
    app = Starlette(routes=routes, lifespan=lifespan, exception_handlers={404: gate.nothing_there})

    def most(path: str) -> int:
        if not path.endswith(("/tries", "/review")):
            return SMALL
        return most_bytes_of(service)

    return Guard(app, most=most, secure=service.settings.secure)


def most_bytes_of(service: Service) -> int:
    """How large a hand-in of any week may be, with what a form adds."""
    course = service.courses.now
    return max(most_bytes(course.limits(week)) for week in course.weeks) + (1 << 20)


class Gate:
    """What stands before every route."""

    def __init__(self, service: Service, door: Door) -> None:
        self.service, self.door = service, door
        self.strangers, self.members = Rate(*_STRANGERS), Rate(*_MEMBERS)
        self.tokens, self.hand_ins = Rate(*_TOKENS), Rate(*_HAND_INS)
        self._recognized: dict[int, None] = {}  # hashes of credentials that were valid

    def way(self, row: RouteRow) -> Callable[[Request], Awaitable[Response]]:
        async def answer(request: Request) -> Response:
            started, who = time.perf_counter(), None
            try:
                who = await self._who(request, row)
                response = await self._answered(request, row, who)
            except RequestError as error:
                response = await asyncio.to_thread(refusal, self.service, request, who, error)
            except (SQLAlchemyError, OSError) as error:
                name = type(error).__name__
                self.service.troubles.begin("requests", f"a request failed: {name}")
                sorry = RequestError(
                    503,
                    "The service cannot reach its database or disk now. Nothing was received: your "
                    "files are safe where they are. Try again in a minute.",
                    60,
                )
                response = await asyncio.to_thread(refusal, self.service, request, who, sorry)
            _log(request, row, who, response.status_code, time.perf_counter() - started)
            return response

        return answer

    async def _who(self, request: Request, row: RouteRow) -> Person | None:
        """Who asks; raises RequestError if they may not.

        A request is counted by its address before the door looks at it, because a door may ask a
        JupyterHub about it; whoever was known by the same credentials before is counted by name.
        """
        address = request.client.host if request.client else ""
        shown = hash((request.headers.get("authorization"), request.headers.get("cookie")))
        if shown not in self._recognized:
            self._slow_down(self.strangers, address)
        known = await asyncio.to_thread(self.door.known, request)
        if known:
            self._recognized[shown] = None
            while len(self._recognized) > _MOST_RECOGNIZED:
                del self._recognized[next(iter(self._recognized))]
            self._slow_down(self.members, known.name)
        else:
            self._recognized.pop(shown, None)
        if row.answer is student_actions.enter:
            self._slow_down(self.tokens, address)
        if known is None and row.who != "anybody":
            raise self.door.stranger(request)
        _refuse_foreign(request, self.service.settings.address)
        if row.who == "instructor" and (known is None or known.role != "instructor"):
            raise RequestError(404, "There is nothing here.")
        return known

    def _slow_down(self, rate: Rate, key: str) -> None:
        wait = rate.wait(key)
        if wait:
            raise RequestError(429, f"Too many requests: wait {int(wait) + 1} s.", wait)

    async def _answered(self, request: Request, row: RouteRow, who: Person | None) -> Response:
        if row.method == "POST":
            if row.form == "files" and who is not None:
                self._slow_down(self.hand_ins, who.name)
            sent = await student_actions.read_body(request, row.form, self.service)
            self._refuse_forged(who, sent)
            return await asyncio.to_thread(row.answer, self.service, self.door, request, who, sent)
        if row.live:
            assert who is not None
            live: Response = await row.answer(self.service, request, who)
            return live
        return await asyncio.to_thread(row.answer, self.service, self.door, request, who)

    def _refuse_forged(self, who: Person | None, sent: student_actions.Sent) -> None:
        """A form of a browser's session holds what only our pages know."""
        if who is not None and who.kind != "program" and sent.fields.get("key") != who.form_key:
            raise RequestError(
                403, "This form is too old. Go back, load the page again, and send it."
            )

    async def nothing_there(self, request: Request, error: Exception) -> Response:
        gone = RequestError(404, "There is nothing here.")
        return await asyncio.to_thread(refusal, self.service, request, None, gone)


def _refuse_foreign(request: Request, address: str) -> None:
    """Refuse what a page of another site, or of a user's notebook server, sends for its reader.

    Such a page may only link to a page of the service.
    """
    site = request.headers.get("sec-fetch-site", "same-origin")
    link = request.method == "GET" and request.headers.get("sec-fetch-mode") == "navigate"
    # a proxy may say its own name for the host
    ours = {request.headers.get("host", ""), address} - {""}
    origin, referer = request.headers.get("origin"), _url(request.headers.get("referer", ""))
    same = origin is None or _url(origin).netloc in ours
    if not same or (site not in ("same-origin", "none") and not link):
        raise RequestError(403, "This was sent by another site's page.")
    if referer.netloc in ours and "/user/" in referer.path:
        raise RequestError(
            403,
            "This was sent by a page of a notebook server, which may belong to another student. "
            "Type the service's address into your browser instead.",
        )


def _url(text: str) -> SplitResult:
    try:
        return urlsplit(text)
    except ValueError:
        return urlsplit("invalid:")


def _log(request: Request, row: RouteRow, who: Person | None, status: int, seconds: float) -> None:
    """One line for each request: no query, no header, nothing that was sent."""
    name = who.name if who else "-"
    line = f"{row.method} {row.path} {status} {1000 * seconds:.0f} ms {name}"
    print(visible(line), file=sys.stderr, flush=True)
