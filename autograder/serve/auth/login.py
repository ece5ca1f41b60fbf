"""Authenticate requests, by tokens from the instructor or through a JupyterHub."""

from __future__ import annotations

from typing import NamedTuple

from starlette.requests import Request
from starlette.responses import Response

from .accounts import Accounts, Kind, Person

_COOKIE = "autograder-session"
_COOKIE_SECONDS = 30 * 86_400
_BEARER = "bearer "


class RequestError(Exception):
    """A rejected request: an HTTP status and message, or the page to redirect a browser to.

    wait: seconds after which the client may retry; redirect: a path of the service.
    """

    def __init__(self, status: int, message: str, wait: float = 0.0, redirect: str = "") -> None:
        super().__init__(message)
        self.status, self.wait, self.redirect = status, wait, redirect


class Cookie(NamedTuple):
    """A cookie: its name, the path it is sent to, and whether it requires https."""

    name: str
    path: str
    secure: bool

    def set_on(self, response: Response, value: str, seconds: int = _COOKIE_SECONDS) -> Response:
        options = {"path": self.path, "secure": self.secure, "httponly": True}
        response.set_cookie(self.name, value, max_age=seconds, samesite="lax", **options)  # type: ignore[arg-type]
        return response

    def delete_from(self, response: Response) -> Response:
        # a browser ignores even the deletion of a `__Host-` cookie without these
        response.delete_cookie(self.name, self.path, secure=self.secure, httponly=True)
        return response


def session_cookie(prefix: str, *, secure: bool, own_host: bool = False) -> Cookie:
    """Return the cookie that holds a session's key.

    own_host: no other service uses this host. With https the cookie then has the prefix
    `__Host-`, so pages of sibling domains, such as students' notebook servers, cannot set it.
    """
    if secure and own_host:
        return Cookie(f"__Host-{_COOKIE}", "/", secure=True)
    return Cookie(_COOKIE, prefix, secure)


class Login:
    """Sign-in with a token from the instructor, then a session. All methods block."""

    kind: Kind = "browser"
    message = "Sign in with the token that your instructor gave you."

    def __init__(self, accounts: Accounts, cookie: Cookie, prefix: str) -> None:
        self._accounts, self.cookie, self._prefix = accounts, cookie, prefix

    def authenticate(self, request: Request) -> Person | None:
        """Return the person who sent a request, or None if it has no valid credentials."""
        given = request.headers.get("authorization", "")
        if given.lower().startswith(_BEARER):
            return self._person_of_program(given[len(_BEARER) :].strip())
        key = request.cookies.get(self.cookie.name, "")
        return self._accounts.find_session(key, self.kind) if 20 < len(key) < 100 else None

    def _person_of_program(self, key: str) -> Person | None:
        return self._accounts.find_session(key, "program")

    def unauthenticated(self, request: Request) -> RequestError:
        """Return the response to an unauthenticated request that requires a person."""
        # a redirect to the login page would lose the content of a form
        redirect = f"{self._prefix}enter" if request.method == "GET" else ""
        return RequestError(401, self.message, redirect=redirect)

    def begin(self, request: Request) -> Response | None:
        """Return a redirect to an external sign-in page, or None to show the token form."""
        return None

    def complete(self, request: Request) -> Response:
        """Sign in a browser that returns from that page; raise RequestError if sign-in failed."""
        raise RequestError(404, "Page not found.")
