"""How somebody becomes known: by a token of the instructor's, or by a JupyterHub (hub.py)."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from starlette.requests import Request
from starlette.responses import Response

from ..views.responses import RequestError
from .accounts import Kind, People, Person

_COOKIE = "autograder-session"
_BEARER = "bearer "


class Cookie(NamedTuple):
    """A cookie of the service: its name, and where and how a browser sends it."""

    name: str
    path: str
    secure: bool

    def put(self, answer: Response, value: str, seconds: int) -> None:
        answer.set_cookie(
            self.name,
            value,
            max_age=seconds,
            path=self.path,
            httponly=True,
            samesite="lax",
            secure=self.secure,
        )

    def remove(self, answer: Response) -> None:
        # a browser ignores even the removal of a `__Host-` cookie without these
        answer.delete_cookie(self.name, self.path, secure=self.secure, httponly=True)


def session_cookie(prefix: str, *, secure: bool, own_host: bool = False) -> Cookie:
    """Return the cookie that holds a session's key.

    own_host: nothing else is served from this host. With https the cookie is then one that pages of
    sibling domains cannot set (`__Host-`), such as those of students' notebook servers on a Hub.
    """
    if secure and own_host:
        return Cookie(f"__Host-{_COOKIE}", "/", secure=True)
    return Cookie(_COOKIE, prefix, secure)


class Door(Protocol):
    """The way in."""

    cookie: Cookie

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


def with_session(answer: Response, who: Person, cookie: Cookie) -> Response:
    """The answer with which a browser's session begins."""
    cookie.put(answer, who.key, 30 * 86_400)
    return answer


class TokenDoor:
    """Without a Hub: a token, and then a session."""

    def __init__(self, people: People, prefix: str, *, secure: bool = False) -> None:
        self._people, self._prefix = people, prefix
        self.cookie = session_cookie(prefix, secure=secure)

    def known(self, request: Request) -> Person | None:
        if key := bearer(request):
            return self._people.known(key, "program")
        return known_by_cookie(self._people, request, self.cookie, "browser")

    def stranger(self, request: Request) -> RequestError:
        where = f"{self._prefix}enter"
        said = "Who are you? Sign in with the token that your instructor gave you."
        return RequestError(401, said, go_to=where if request.method == "GET" else "")

    def entrance(self, request: Request) -> Response | None:
        return None

    def returned(self, request: Request) -> tuple[Person, Response]:
        raise RequestError(404, "There is nothing here.")


def known_by_cookie(people: People, request: Request, cookie: Cookie, kind: Kind) -> Person | None:
    key = request.cookies.get(cookie.name, "")
    return people.known(key, kind) if 20 < len(key) < 100 else None
