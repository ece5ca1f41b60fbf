"""How somebody becomes known: by a token of the instructor's, or by a JupyterHub (hub.py)."""

from __future__ import annotations

from typing import Any, Protocol

from starlette.requests import Request
from starlette.responses import Response

from .answers import RequestError
from .people import Kind, People, Person

COOKIE = "autograder-session"
_BEARER = "bearer "


class Door(Protocol):
    """The way in."""

    def known(self, request: Request) -> Person | None:
        """Who asks, if that is known. Blocks."""

    def stranger(self, request: Request) -> RequestError:
        """What is answered to somebody who is not known and has to be."""

    def entrance(self, request: Request) -> Response | None:
        """Where a browser goes to become known; None: to the form for a token."""

    def returned(self, request: Request) -> tuple[Person, Response]:
        """Who comes back from there; raises RequestError."""


def bearer(request: Request) -> str:
    """What a program says it is known by."""
    given = request.headers.get("authorization", "")
    return given[len(_BEARER) :].strip() if given.lower().startswith(_BEARER) else ""


def with_session(answer: Response, who: Person, prefix: str, *, secure: bool) -> Response:
    """The answer with which a browser's session begins."""
    cookie: dict[str, Any] = {"path": prefix, "httponly": True, "samesite": "lax"}
    answer.set_cookie(COOKIE, who.key, secure=secure, max_age=30 * 86_400, **cookie)
    return answer


class TokenDoor:
    """Without a Hub: a token, and then a session."""

    def __init__(self, people: People, prefix: str) -> None:
        self._people, self._prefix = people, prefix

    def known(self, request: Request) -> Person | None:
        if key := bearer(request):
            return self._people.known(key, "program")
        return known_by_cookie(self._people, request, "browser")

    def stranger(self, request: Request) -> RequestError:
        where = f"{self._prefix}enter"
        said = "Who are you? Sign in with the token that your instructor gave you."
        return RequestError(401, said, go_to=where if request.method == "GET" else "")

    def entrance(self, request: Request) -> Response | None:
        return None

    def returned(self, request: Request) -> tuple[Person, Response]:
        raise RequestError(404, "There is nothing here.")


def known_by_cookie(people: People, request: Request, kind: Kind) -> Person | None:
    key = request.cookies.get(COOKIE, "")
    return people.known(key, kind) if 20 < len(key) < 100 else None
