"""Sign-in through a JupyterHub.

A browser goes to the Hub and returns with a code, which the Hub exchanges for a token (OAuth with
PKCE). `autograder submit` in a user's server sends that server's own token. In both cases the Hub
reports who owns the token and whether that user may use this service. Admins of the Hub are
instructors, and so are users and members of groups that `--instructor NAME` and `--instructor
group:NAME` list.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from .accounts import Accounts, Kind, Person, Role, is_name
from .login import Cookie, Login, RequestError

_GROUP = "group:"  # user names contain no colon
_STATE_SECONDS = 600


class HubLogin(Login):
    """Authentication for a service that a JupyterHub starts."""

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
        """Ask the Hub who owns a token; return None if that user may not use this service."""
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
    """Return the role of a Hub user, given the names and groups that `--instructor` lists."""
    names = {user["name"], *(f"{_GROUP}{group}" for group in user.get("groups", []))}
    return "instructor" if user.get("admin") or names & set(instructors) else "student"
