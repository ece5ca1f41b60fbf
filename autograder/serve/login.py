"""Authenticate requests, by tokens from the instructor or through a JupyterHub.

A token has 128 random bits, and the instructor sends it to one person. Its first use starts a
session and invalidates the token, so the token is useless to anyone who reads the mail later. Only
hashes of tokens and session keys are stored. Without use, the session of a browser expires after 30
days, of a program (`autograder submit`) after 120 days, and of a JupyterHub user after half a day.

With a JupyterHub, a browser returns from the Hub's sign-in page with a code that is exchanged for a
token (OAuth with PKCE). `autograder submit` in a user's server sends the token of that server. In
both cases the Hub reports who owns the token and whether that user may use this service. Admins of
the Hub are instructors, and so are the users and group members that `--instructor NAME` and
`--instructor group:NAME` select.
"""

import hashlib
import hmac
import re
import secrets
from typing import Any, Literal, NamedTuple
from urllib.parse import urlencode

import msgspec
import sqlalchemy as sa
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from . import tables as t
from .tables import Store

Role = Literal["student", "instructor"]
Kind = Literal["browser", "program", "hub"]
_DAY = 86_400.0
_LIFETIME = {"browser": 30 * _DAY, "program": 120 * _DAY, "hub": _DAY / 2}
_NAME = re.compile(r"\w[\w.@+-]*\Z")
_RENEWAL_INTERVAL = 3600.0  # a session in use is extended at most this often


def is_name(name: str) -> bool:
    """Return True if nbgrader accepts a student name: letters, digits and `.@-_`."""
    return len(name) <= 100 and bool(_NAME.match(name)) and ".." not in name and "+" not in name


class Person(msgspec.Struct, frozen=True):
    """An authenticated user. The form key is derived from `key`, the secret of the session."""

    name: str
    role: Role
    kind: Kind
    key: str = ""

    @property
    def form_key(self) -> str:
        """Return the secret that forms of this session must contain to prevent CSRF."""
        return hmac.new(self.key.encode(), b"form", hashlib.sha256).hexdigest()


class Accounts(Store):
    """Tokens and sessions. All methods block."""

    def create_token(self, name: str, role: Role = "student") -> str:
        """Create a token, and delete the person's unused tokens."""
        secret = secrets.token_urlsafe(16)
        row = {"hash": _hash(secret), "name": name, "role": role, "created": self.clock()}
        self.execute(_unused_tokens(name), t.tokens.insert().values(**row))
        return secret

    def names_with_token(self) -> set[str]:
        """Return the names of all people who have a token, used or not."""
        return set(self.read(sa.select(t.tokens.c.name)).scalars())

    def revoke(self, name: str) -> None:
        """End a person's sessions and delete their unused tokens."""
        self.execute(t.sessions.delete().where(t.sessions.c.name == name), _unused_tokens(name))

    def redeem(self, token: str, kind: Kind) -> Person | None:
        """Exchange a token for a session; return None if the token is unknown or used."""
        unused = (t.tokens.c.hash == _hash(token)) & t.tokens.c.used.is_(None)
        use = t.tokens.update().where(unused).values(used=self.clock())
        with self.transaction() as db:
            row = db.execute(use.returning(t.tokens.c.name, t.tokens.c.role)).first()
        return self.start_session(row.name, row.role, kind) if row else None

    def start_session(self, name: str, role: Role, kind: Kind) -> Person:
        secret, now = secrets.token_urlsafe(32), self.clock()
        row = {"hash": _hash(secret), "name": name, "role": role, "kind": kind}
        self.execute(
            t.sessions.delete().where(t.sessions.c.expires < now),
            t.sessions.insert().values(last_used=now, expires=now + _LIFETIME[kind], **row),
        )
        return Person(name, role, kind, secret)

    def find_session(self, secret: str, kind: Kind) -> Person | None:
        """Return the owner of a session of this kind, or None if no such session is valid."""
        now = self.clock()
        session = (t.sessions.c.hash == _hash(secret)) & (t.sessions.c.kind == kind)
        row = self.read(sa.select(t.sessions).where(session)).first()
        if row is None or row.expires < now:
            return None
        if now - row.last_used > _RENEWAL_INTERVAL:
            renewed = {"last_used": now, "expires": now + _LIFETIME[kind]}
            self.execute(t.sessions.update().where(session).values(**renewed))
        return Person(row.name, row.role, kind, secret)

    def end_session(self, secret: str) -> None:
        self.execute(t.sessions.delete().where(t.sessions.c.hash == _hash(secret)))


def _unused_tokens(name: str) -> sa.Delete:
    return t.tokens.delete().where((t.tokens.c.name == name) & t.tokens.c.used.is_(None))


def _hash(secret: str) -> str:
    # needs no salt, because the secrets are long and random
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()


_COOKIE = "autograder-session"
_COOKIE_SECONDS = 30 * 86_400
_BEARER = "bearer "


class RequestError(Exception):
    """A request was rejected with an HTTP status and a message.

    wait: seconds after which the client may retry, or 0
    redirect: path to which a browser is redirected instead, or ""
    """

    def __init__(self, status: int, message: str, wait: float = 0.0, redirect: str = "") -> None:
        super().__init__(message)
        self.status, self.wait, self.redirect = status, wait, redirect


class Cookie(NamedTuple):
    """A cookie for requests below `path`, sent over https only if it is `secure`."""

    name: str
    path: str
    secure: bool

    def set_on(self, response: Response, value: str, seconds: int = _COOKIE_SECONDS) -> Response:
        options = {"path": self.path, "secure": self.secure, "httponly": True}
        response.set_cookie(self.name, value, max_age=seconds, samesite="lax", **options)  # type: ignore[arg-type]
        return response

    def delete_from(self, response: Response) -> Response:
        # browsers also reject the deletion of a `__Host-` cookie without these attributes
        response.delete_cookie(self.name, self.path, secure=self.secure, httponly=True)
        return response


def session_cookie(prefix: str, *, secure: bool, own_host: bool = False) -> Cookie:
    """Return the cookie for the key of a session.

    own_host: no other service uses this host. Over https, the name then starts with `__Host-`, so
        that pages of sibling domains, such as students' notebook servers, cannot set the cookie.
    """
    if secure and own_host:
        return Cookie(f"__Host-{_COOKIE}", "/", secure=True)
    return Cookie(_COOKIE, prefix, secure)


class Login:
    """Authentication with tokens from the instructor. All methods block."""

    kind: Kind = "browser"
    message = "Sign in with the token that your instructor gave you."

    def __init__(self, accounts: Accounts, cookie: Cookie, prefix: str) -> None:
        self._accounts, self.cookie, self._prefix = accounts, cookie, prefix

    def authenticate(self, request: Request) -> Person | None:
        """Return the sender of a request, or None if the request has no valid credentials."""
        given = request.headers.get("authorization", "")
        if given.lower().startswith(_BEARER):
            return self._person_of_program(given[len(_BEARER) :].strip())
        key = request.cookies.get(self.cookie.name, "")
        return self._accounts.find_session(key, self.kind) if 20 < len(key) < 100 else None

    def _person_of_program(self, key: str) -> Person | None:
        return self._accounts.find_session(key, "program")

    def unauthenticated(self, request: Request) -> RequestError:
        """Return the error for a request without valid credentials on a route that needs them."""
        # a redirect to the login page would lose the content of a form
        redirect = f"{self._prefix}enter" if request.method == "GET" else ""
        return RequestError(401, self.message, redirect=redirect)

    def begin(self, request: Request) -> Response | None:
        """Return a redirect to an external sign-in page, or None to show the token form."""
        return None

    def complete(self, request: Request) -> Response:
        """Sign in a browser that returns from the external page; raise RequestError on failure."""
        raise RequestError(404, "Page not found.")


_GROUP = "group:"  # user names contain no colon
_STATE_SECONDS = 600


class HubLogin(Login):
    """Authentication through the JupyterHub that started the service."""

    kind: Kind = "hub"
    message = "Sign in to the Hub."

    def __init__(
        self, accounts: Accounts, cookie: Cookie, prefix: str, instructors: tuple[str, ...]
    ) -> None:
        from jupyterhub.services.auth import HubOAuth

        super().__init__(accounts, cookie, prefix)
        self._state = cookie._replace(name=f"{cookie.name}-state")
        self._instructors = instructors
        self._hub = HubOAuth(cache_max_age=60)

    def _person_of_program(self, key: str) -> Person | None:
        return self._person_of_token(key, key, "program")

    def _person_of_token(self, token: str, key: str, kind: Kind) -> Person | None:
        """Return the owner of a Hub token, or None if that user may not use this service."""
        user: Any = self._hub.user_for_token(token, use_cache=True, sync=True)
        if not user or user.get("kind") != "user" or not is_name(str(user.get("name", ""))):
            return None
        if not self._hub.check_scopes(self._hub.access_scopes, user):
            return None
        return Person(user["name"], role_of(user, self._instructors), kind, key)

    def begin(self, request: Request) -> Response | None:
        verifier, challenge, method = self._hub.generate_pkce_code_challenge()
        state = self._hub.generate_state(next_url=self._prefix, code_verifier=verifier)
        query = {"state": state, "code_challenge": challenge, "code_challenge_method": method}
        url = self._hub.login_url
        separator = "&" if "?" in url else "?"
        response = RedirectResponse(f"{url}{separator}{urlencode(query)}", 303)
        return self._state.set_on(response, state, _STATE_SECONDS)

    def complete(self, request: Request) -> Response:
        code, state = request.query_params.get("code"), request.query_params.get("state")
        if not code or not state or request.cookies.get(self._state.name) != state:
            raise RequestError(
                403, "Signing in at the Hub was interrupted. Open the service's first page again."
            )
        verifier = self._hub.get_code_verifier(state)
        self._hub.clear_oauth_state(state)
        token = self._hub.token_for_code(code, code_verifier=verifier, sync=True)
        user = self._person_of_token(token, "", "hub")
        if user is None:
            raise RequestError(403, "The Hub does not let you use this service.")
        person = self._accounts.start_session(user.name, user.role, "hub")
        response = self._state.delete_from(RedirectResponse(self._prefix, 303))
        return self.cookie.set_on(response, person.key)


def role_of(user: dict[str, Any], instructors: tuple[str, ...]) -> Role:
    """Return the role of a Hub user. `instructors`: the values of `--instructor`."""
    names = {user["name"], *(f"{_GROUP}{group}" for group in user.get("groups", []))}
    return "instructor" if user.get("admin") or names & set(instructors) else "student"
