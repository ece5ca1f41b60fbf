"""A JupyterHub knows its users: the service asks it who somebody is.

A browser goes to the Hub and comes back with a code, which the Hub exchanges for a token (OAuth,
with PKCE); `autograder submit` in a user's server shows that server's own token. In both the Hub
says whose it is and whether it may use this service. Users who are admins of the Hub, are named by
`--instructor NAME`, or are in a group that `--instructor group:NAME` names see the class.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from ..views.responses import RequestError
from .accounts import People, Person, Role, is_name
from .login import bearer, known_by_cookie, session_cookie, with_session

GROUP = "group:"  # no user's name holds a colon
_LASTS = 600


class HubDoor:
    """Behind a JupyterHub, as one of its services."""

    def __init__(
        self, people: People, prefix: str, instructors: tuple[str, ...], *, secure: bool
    ) -> None:
        from jupyterhub.services.auth import HubOAuth

        self._people, self._prefix = people, prefix
        self.cookie = session_cookie(prefix, secure=secure, own_host=True)
        self._state = self.cookie._replace(name=f"{self.cookie.name}-state")
        self._instructors = set(instructors)
        self._hub = HubOAuth(cache_max_age=60)

    def known(self, request: Request) -> Person | None:
        if token := bearer(request):
            return self._person(self._asked(token), token, "program")
        return known_by_cookie(self._people, request, self.cookie, "hub")

    def _asked(self, token: str) -> dict[str, Any] | None:
        """What the Hub says of whoever holds a token; None if they may not use this service."""
        model: Any = self._hub.user_for_token(token, use_cache=True, sync=True)
        if not model or model.get("kind") != "user":
            return None
        if not self._hub.check_scopes(self._hub.access_scopes, model):
            return None
        return dict(model)

    def _person(self, model: dict[str, Any] | None, key: str, kind: Any) -> Person | None:
        if model is None or not is_name(str(model.get("name", ""))):
            return None
        groups = (f"{GROUP}{group}" for group in model.get("groups", []))
        named = {model["name"], *groups} & self._instructors
        role: Role = "instructor" if model.get("admin") or named else "student"
        return Person(model["name"], role, kind, key)

    def stranger(self, request: Request) -> RequestError:
        where = f"{self._prefix}enter" if request.method == "GET" else ""
        return RequestError(401, "Who are you? Sign in to the Hub.", go_to=where)

    def entrance(self, request: Request) -> Response | None:
        verifier, challenge, method = self._hub.generate_pkce_code_challenge()
        state = self._hub.generate_state(next_url=self._prefix, code_verifier=verifier)
        asked = {"state": state, "code_challenge": challenge, "code_challenge_method": method}
        where = self._hub.login_url
        answer = RedirectResponse(f"{where}{'&' if '?' in where else '?'}{urlencode(asked)}", 303)
        self._state.put(answer, state, _LASTS)
        return answer

    def returned(self, request: Request) -> tuple[Person, Response]:
        code, state = request.query_params.get("code"), request.query_params.get("state")
        if not code or not state or request.cookies.get(self._state.name) != state:
            raise RequestError(403, "The sign-in at the Hub was cut off. Begin at the first page.")
        verifier = self._hub.get_code_verifier(state)
        self._hub.clear_oauth_state(state)
        token = self._hub.token_for_code(code, code_verifier=verifier, sync=True)
        who = self._person(self._asked(token), "", "hub")
        if who is None:
            raise RequestError(403, "The Hub does not let you use this service.")
        session = self._people.session(who.name, who.role, "hub")
        answer = RedirectResponse(self._prefix, 303)
        self._state.remove(answer)
        return session, with_session(answer, session, self.cookie)
