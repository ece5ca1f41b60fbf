"""Authenticate requests with tokens from the instructor or through a JupyterHub.

A token has 128 random bits, and the instructor sends it to one person. Its first use starts a
session and invalidates the token, so the token is useless to anyone who reads the mail later. Only
hashes of tokens and session keys are stored. An unused session expires after 30 days in a browser,
after 120 days in a program (`autograder submit`), and after half a day for a JupyterHub user.

With a JupyterHub, the browser returns from the Hub's sign-in page with a code, which the service
exchanges for a token (OAuth with PKCE). If `autograder submit` runs in a user's notebook server, it
sends the token of that server. In both cases, the Hub reports who owns the token and whether that
user may use this service. Admins of the Hub are instructors, and so are the users and the members
of groups that are selected with `--instructor NAME` and `--instructor group:NAME`; `--assistant`
selects assistants in the same way.
"""

import hashlib
import hmac
import secrets
from collections.abc import Collection
from typing import Any, Literal, NamedTuple
from urllib.parse import urlencode

import msgspec
import sqlalchemy as sa
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from ..nbgrader.collect.inbound import is_name
from . import tables as t
from .tables import Store

Role = Literal["student", "assistant", "instructor"]
Kind = Literal["browser", "program", "hub"]
_DAY = 86_400.0
_LIFETIME = {"browser": 30 * _DAY, "program": 120 * _DAY, "hub": _DAY / 2}
_RENEWAL_INTERVAL = 3600.0  # seconds; a session in use is extended at most once per interval


class Person(msgspec.Struct, frozen=True):
    """An authenticated user. `key` is the secret of the user's session."""

    name: str
    role: Role
    kind: Kind
    key: str = ""

    @property
    def is_staff(self) -> bool:
        return self.role != "student"

    @property
    def form_key(self) -> str:
        """Return the CSRF token that every form of this session must contain."""
        return hmac.new(self.key.encode(), b"form", hashlib.sha256).hexdigest()


class KnownPerson(NamedTuple):
    """Someone who has signed in, or who has a token that was not used yet."""

    name: str
    role: Role
    signed_in: bool


class Accounts(Store):
    """Tokens and sessions. All methods block."""

    def create_token(self, name: str, role: Role = "student") -> str:
        """Return a new token for a person, after deleting the person's unused tokens."""
        secret = secrets.token_urlsafe(16)
        row = {"hash": _hash(secret), "name": name, "role": role, "created": self.clock()}
        self.execute(_unused_tokens(name), t.tokens.insert().values(**row))
        return secret

    def names_with_token(self) -> set[str]:
        """Return the names of all people who have a token, used or not."""
        return set(self.read(sa.select(t.tokens.c.name)).scalars())

    def people(self) -> list[KnownPerson]:
        """Return everyone with a session or an unused token, instructors and assistants first."""
        unused = sa.select(t.tokens.c.name, t.tokens.c.role).where(t.tokens.c.used.is_(None))
        active = sa.select(t.sessions.c.name, t.sessions.c.role)
        active = active.where(t.sessions.c.expires > self.clock())
        found = {row.name: KnownPerson(row.name, row.role, False) for row in self.read(unused)}
        for row in self.read(active):
            found[row.name] = KnownPerson(row.name, row.role, True)
        return sorted(found.values(), key=lambda p: (p.role == "student", p.role, p.name))

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
        """Return a session's owner; None if the session is unknown, expired or of another kind."""
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
    # a salt is unnecessary, because the secrets are long and random
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()


_COOKIE = "autograder-session"
_COOKIE_SECONDS = 30 * 86_400
_BEARER = "bearer "


class RequestError(Exception):
    """Raised to reject a request with an HTTP status and a message.

    wait: seconds after which the client may retry, or 0
    redirect: path to which browsers are redirected instead of seeing the message, or ""
    """

    def __init__(self, status: int, message: str, wait: float = 0.0, redirect: str = "") -> None:
        super().__init__(message)
        self.status, self.wait, self.redirect = status, wait, redirect


class Cookie(NamedTuple):
    """A cookie for requests below `path`. Browsers send a `secure` cookie only over https."""

    name: str
    path: str
    secure: bool

    def set_on(self, response: Response, value: str, seconds: int = _COOKIE_SECONDS) -> Response:
        options = {"path": self.path, "secure": self.secure, "httponly": True}
        response.set_cookie(self.name, value, max_age=seconds, samesite="lax", **options)  # type: ignore[arg-type]
        return response

    def delete_from(self, response: Response) -> Response:
        # without these attributes, browsers would ignore the deletion of a `__Host-` cookie
        response.delete_cookie(self.name, self.path, secure=self.secure, httponly=True)
        return response


def session_cookie(prefix: str, *, secure: bool, own_host: bool = False) -> Cookie:
    """Return the cookie that stores the session key.

    own_host: no other service uses this host. Over https, the name of the cookie then starts with
        `__Host-`, so that sibling domains, such as students' notebook servers, cannot set it.
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
        """Return the error for an unauthenticated request to a route that requires a login."""
        # redirect only GET requests, because a redirect would discard the data of a form
        redirect = f"{self._prefix}enter" if request.method == "GET" else ""
        return RequestError(401, self.message, redirect=redirect)

    def begin(self, request: Request) -> Response | None:
        """Return a redirect to an external sign-in page, or None to show the token form."""
        return None

    def complete(self, request: Request) -> Response:
        """Sign in a user who returns from the external page; raise RequestError on failure."""
        raise RequestError(404, "Page not found.")


_GROUP = "group:"  # cannot be part of a user name, because user names contain no colon
_STATE_SECONDS = 600


class HubLogin(Login):
    """Authentication through the JupyterHub that started the service."""

    kind: Kind = "hub"
    message = "Sign in to the Hub."

    def __init__(
        self,
        accounts: Accounts,
        cookie: Cookie,
        prefix: str,
        instructors: Collection[str],
        assistants: Collection[str] = (),
    ) -> None:
        from jupyterhub.services.auth import HubOAuth

        super().__init__(accounts, cookie, prefix)
        self._state = cookie._replace(name=f"{cookie.name}-state")
        self._staff = instructors, assistants
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
        return Person(user["name"], role_of(user, *self._staff), kind, key)

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


def role_of(
    user: dict[str, Any], instructors: Collection[str], assistants: Collection[str] = ()
) -> Role:
    """Return the role of a Hub user; the last arguments are the values of the options."""
    names = {user["name"], *(f"{_GROUP}{group}" for group in user.get("groups", []))}
    if user.get("admin") or names & set(instructors):
        return "instructor"
    return "assistant" if names & set(assistants) else "student"
