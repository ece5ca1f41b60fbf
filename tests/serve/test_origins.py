"""Attacks on authentication: pages of other students, names of groups, guessed credentials."""

from __future__ import annotations

import asyncio

import pytest
from starlette.requests import Request
from starlette.responses import Response

from autograder.model.errors import KitError
from autograder.serve.login import Person, RequestError, role_of, session_cookie
from autograder.serve.shared_state import Address
from autograder.serve.start import hub_address
from autograder.serve.views import routes
from autograder.serve.views.routes import ROUTES, AccessControl
from tests.nbgrader.tiny_course import WEEK

USER_PAGE = {"referer": "http://testserver/user/eve/files/page.html", "sec-fetch-mode": "cors"}


@pytest.mark.parametrize("headers", [USER_PAGE, {"sec-fetch-site": "same-site"}])
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_page_of_another_student_acts_for_nobody(sign_in, service, week, method, headers):
    client, ada = sign_in("ada")
    own = {"sec-fetch-site": "same-origin", **headers}
    path = f"/weeks/{week.name}" + ("/tries" if method == "POST" else "")
    form = {"data": {"key": ada.form_key}, "files": {"files": ("doubling.py", b"x = 1")}}
    more = form if method == "POST" else {}
    answer = client.request(method, path, headers=own, **more)
    assert answer.status_code == 403
    assert ada.form_key not in answer.text
    assert service.queue.of_student("ada", WEEK) == []


def test_a_link_on_another_site_leads_to_the_service(sign_in, week):
    client, _ = sign_in("ada")
    link = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}
    assert client.get(f"/weeks/{week.name}", headers=link).status_code == 200


def test_a_hub_without_subdomains_is_refused(monkeypatch):
    monkeypatch.setenv("JUPYTERHUB_SERVICE_URL", "http://127.0.0.1:10101")
    monkeypatch.setenv("JUPYTERHUB_API_TOKEN", "secret")
    monkeypatch.setenv("JUPYTERHUB_HOST", "")
    with pytest.raises(KitError, match="subdomain_host"):
        hub_address(Address(hub=True))
    monkeypatch.setenv("JUPYTERHUB_HOST", "https://hub.example.org")
    assert hub_address(Address(hub=True)).port == 10101


def test_no_page_of_a_students_subdomain_can_set_the_cookies_of_a_hubs_service():
    """A browser accepts a `__Host-` cookie only from its own host."""
    cookie = session_cookie("/services/autograder/", secure=True, own_host=True)
    answer = Response()
    cookie.set_on(answer, "key", 60)
    (name, _, rest) = answer.headers["set-cookie"].partition("=")
    assert name.startswith("__Host-")
    assert {"Path=/", "Secure"} <= set(rest.split("; "))
    assert "Domain" not in rest


@pytest.mark.parametrize(
    ("name", "groups", "role"),
    [
        ("teach", [], "instructor"),
        ("ada", ["staff"], "instructor"),
        ("staff", [], "student"),
        ("eve", ["teach"], "student"),
        ("eve", ["group:staff", "group:teach"], "student"),
        ("bea", [], "assistant"),
        ("cy", ["markers"], "assistant"),
        ("bea", ["staff"], "instructor"),
    ],
)
def test_a_group_is_no_user_of_its_name(name, groups, role):
    user = {"name": name, "groups": groups, "admin": False}
    assert role_of(user, ("teach", "group:staff"), ("bea", "group:markers")) == role


def test_strangers_credentials_are_counted_before_a_hub_is_asked(service, monkeypatch):
    monkeypatch.setattr(routes, "ADDRESS_RATE", (5, 0.001))  # however slow this machine is
    asked: list[str] = []

    class Login:
        def authenticate(self, request: Request) -> Person | None:
            asked.append(request.headers["authorization"])
            return Person("ada", "student", "program") if asked[-1] == "hers" else None

        def unauthenticated(self, request: Request) -> RequestError:
            return RequestError(401, "who")

    gate = AccessControl(service, Login())
    (home,) = (row for row in ROUTES if row.path == "/")

    def ask(credential: str) -> int:
        headers = [(b"authorization", credential.encode())]
        request = Request({"type": "http", "method": "GET", "headers": headers, "client": ("x", 1)})
        try:
            asyncio.run(gate.authorize(request, home))
        except RequestError as error:
            return error.status
        return 200

    assert ask("hers") == 200
    assert [ask(f"guess {n}") for n in range(20)] == [401] * 4 + [429] * 16
    assert len(asked) == 5
    assert ask("hers") == 200  # requests of others at her address do not count for her
