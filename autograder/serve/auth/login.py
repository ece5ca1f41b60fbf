"""Authenticate requests: by the instructor's tokens, or by a JupyterHub (jupyterhub.py)."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from starlette.requests import Request
from starlette.responses import Response

from .accounts import Accounts, Kind, Person

_COOKIE = "autograder-session"
_COOKIE_SECONDS = 30 * 86_400
_BEARER = "bearer "


class RequestError(Exception):
    """A refused request: its status and message, or the page to which a browser is redirected.

    wait: seconds after which the client may retry; redirect: a path of the service.
    """

    def __init__(self, status: int, message: str, wait: float = 0.0, redirect: str = "") -> None:
        super().__init__(message)
        self.status, self.wait, self.redirect = status, wait, redirect


class Cookie(NamedTuple):
    """A cookie of the service: its name, and where and how a browser sends it."""

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


class Login(Protocol):
    """A way to authenticate requests. All methods block."""

    cookie: Cookie

    def authenticate(self, request: Request) -> Person | None:
        """Return the person who sent a request, or None if it has no valid credentials."""

    def unauthenticated(self, request: Request) -> RequestError:
        """Return the answer to a request that needs a person and has none."""

    def begin(self, request: Request) -> Response | None:
        """Redirect a browser to where people sign in, or return None to show the token form."""

    def complete(self, request: Request) -> tuple[Person, Response]:
        """Sign in a browser that returns from there; raise RequestError."""


class TokenLogin:
    """Sign-in with a token from the instructor, then a session."""

    def __init__(self, accounts: Accounts, prefix: str, *, secure: bool = False) -> None:
        self._accounts, self._prefix = accounts, prefix
        self.cookie = session_cookie(prefix, secure=secure)

    def authenticate(self, request: Request) -> Person | None:
        if key := bearer_token(request):
            return self._accounts.find_session(key, "program")
        return person_of_cookie(self._accounts, request, self.cookie, "browser")

    def unauthenticated(self, request: Request) -> RequestError:
        message = "Sign in with the token that your instructor gave you."
        return RequestError(401, message, redirect=login_page(request, self._prefix))

    def begin(self, request: Request) -> Response | None:
        return None

    def complete(self, request: Request) -> tuple[Person, Response]:
        raise RequestError(404, "Page not found.")


def login_page(request: Request, prefix: str) -> str:
    """Return the page to which a request without a session is redirected, or "" for a form."""
    return f"{prefix}enter" if request.method == "GET" else ""


def bearer_token(request: Request) -> str:
    given = request.headers.get("authorization", "")
    return given[len(_BEARER) :].strip() if given.lower().startswith(_BEARER) else ""


def person_of_cookie(
    accounts: Accounts, request: Request, cookie: Cookie, kind: Kind
) -> Person | None:
    key = request.cookies.get(cookie.name, "")
    return accounts.find_session(key, kind) if 20 < len(key) < 100 else None
