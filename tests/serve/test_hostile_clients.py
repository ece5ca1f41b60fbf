"""Clients that send too much, too slowly or half."""

from __future__ import annotations

import asyncio
import io
import time
import zipfile
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from starlette.testclient import TestClient

from autograder.serve import request_limits
from autograder.serve.login import Login
from autograder.serve.views import routes
from autograder.serve.views.routes import ROUTES, application
from tests.nbgrader.tiny_course import WEEK

PATH = f"/weeks/{WEEK}/tries"
Receive = Callable[[], Awaitable[dict[str, Any]]]
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT", "PROPFIND")


def scope(path: str, method: str = "GET", **headers: str) -> dict[str, Any]:
    """Return an ASGI scope, also for requests that client libraries refuse to send."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.4"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "root_path": "",
        "headers": [(n.lower().encode(), v.encode("latin-1")) for n, v in named.items()],
        "client": ("192.0.2.1", 4711),
        "server": ("testserver", 80),
    }


class Answers:
    """A response."""

    def __init__(self) -> None:
        self.status, self.body = 0, b""

    async def send(self, message: Any) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
        self.body += message.get("body", b"")


async def never() -> dict[str, Any]:
    await asyncio.Event().wait()
    raise AssertionError


def program(service) -> dict[str, str]:
    key = service.accounts.start_session("ada", "student", "program").key
    return {"authorization": f"Bearer {key}", "accept": "application/json"}


@pytest.fixture
def app(service, door: Login):
    return application(service, door)


def test_a_body_that_never_comes_is_given_up_and_is_no_trouble_of_ours(
    app, service, monkeypatch
) -> None:
    monkeypatch.setattr(request_limits, "BODY_SECONDS", 0.1)
    kind = "multipart/form-data; boundary=x"
    answers = Answers()
    asked = scope(PATH, "POST", content_length="1000", content_type=kind, **program(service))
    asyncio.run(asyncio.wait_for(app(asked, never, answers.send), 20))
    assert answers.status == 408
    assert service.incidents.current == {}


def parts(*bodies: bytes) -> Receive:
    left = list(bodies)

    async def receive() -> dict[str, Any]:
        body = left.pop(0)
        return {"type": "http.request", "body": body, "more_body": bool(left)}

    return receive


def test_more_than_was_announced_is_not_read(app, service) -> None:
    answers = Answers()
    kind = "multipart/form-data; boundary=x"
    asked = scope(PATH, "POST", content_length="10", content_type=kind, **program(service))
    asyncio.run(app(asked, parts(*[b"x" * (1 << 20)] * 64), answers.send))
    assert answers.status == 400
    assert service.queue.of_student("ada", WEEK) == []


@pytest.mark.parametrize("length", ["+5", "5, 5", "0x10", "-1", "1e3", "", "5 5"])
def test_a_length_is_a_number_or_nothing_is_read(app, length: str) -> None:
    answers = Answers()
    asyncio.run(app(scope("/enter", "POST", content_length=length), never, answers.send))
    assert answers.status == 411


def test_a_form_of_very_many_parts_is_refused(service, app) -> None:
    part = b'--x\r\nContent-Disposition: form-data; name="f"; filename="a%d.py"\r\n\r\n\r\n'
    body = b"".join(part % number for number in range(20_000)) + b"--x--\r\n"
    own = {"content-type": "multipart/form-data; boundary=x", **program(service)}
    answer = TestClient(app).post(PATH, content=body, headers=own)
    assert answer.status_code == 400
    assert service.queue.of_student("ada", WEEK) == []


@pytest.mark.parametrize(
    "head",
    [
        b'Content-Disposition: form-data; name="' + b"n" * (1 << 20) + b'"',
        b'Content-Disposition: form-data; name="f"; filename="' + b"../" * 5000 + b'x.py"',
        b'Content-Disposition: form-data; name="f"; filename="a.py"\r\nX: ' + b"y" * (1 << 20),
        b'Content-Disposition: form-data; name="f"; filename="a\r\nX: y.py"',
        b"Content-Disposition: form-data",
        b"\0\0\0",
    ],
    ids=["long name", "climbs", "long header", "breaks the line", "no name", "no text"],
)
def test_odd_parts_are_refused_and_nothing_fails(service, app, head: bytes) -> None:
    body = b"--x\r\n" + head + b"\r\n\r\nx = 1\r\n--x--\r\n"
    own = {"content-type": "multipart/form-data; boundary=x", **program(service)}
    answer = TestClient(app).post(PATH, content=body, headers=own)
    assert answer.status_code in (400, 422)
    assert service.queue.of_student("ada", WEEK) == []
    assert service.incidents.current == {}


def zipped(**entries: bytes) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in entries.items():
            archive.writestr(name.replace("_py", ".py"), data)
    return stream.getvalue()


def lying(data: bytes, size: int) -> bytes:
    """Return an archive whose directory declares a wrong size."""
    at = data.index(b"PK\x01\x02") + 24
    return data[:at] + size.to_bytes(4, "little") + data[at + 4 :]


def test_archives_that_explode_are_refused_at_the_door(service, app) -> None:
    large = zipped(doubling_py=bytes(100 << 20))
    archives = {
        "large": large,
        "lying": lying(large, 10),
        "nested": zipped(**{"all.zip": zipped(**{"all.zip": large})}),
        "cut off": large[: len(large) // 2],
        "empty": zipped(),
    }
    client, own = TestClient(app), program(service)
    for name, data in archives.items():
        answer = client.post(PATH, content=data, headers={"content-type": "application/zip", **own})
        assert answer.status_code == 422, name
        answer = client.post(PATH, files=[("files", ("all.zip", data))], headers=own)
        assert answer.status_code == 422, name
    assert service.queue.of_student("ada", WEEK) == []


def test_no_other_method_reaches_a_route(app, service, sign_in) -> None:
    _, prof = sign_in("prof", "instructor")
    cookie = f"autograder-session={prof.key}"
    for row in ROUTES:
        names = {"name": "style.css", "receipt": "2222-2222-2222", "question": "why"}
        path = row.path.format(week=WEEK, **names)
        known = {r.method for r in ROUTES if r.path == row.path}
        for method in set(METHODS) - known:
            answers = Answers()
            asked = scope(path, method, content_length="0", cookie=cookie)
            asyncio.run(app(asked, parts(b""), answers.send))
            assert answers.status == 405, (method, path)


@pytest.mark.parametrize(
    "headers",
    [
        {"cookie": "autograder-session=" + "x" * 50},
        {"cookie": "autograder-session=" + "é" * 40},
        {"cookie": "autograder-session=a; autograder-session=b" * 200},
        {"authorization": "Bearer " + "\xff" * 60},
        {"authorization": "Bearer"},
        {"authorization": "Basic YWRhOmFkYQ=="},
        {"x_forwarded_user": "prof", "remote_user": "prof", "x_remote_user": "prof"},
        {"host": "evil.example"},
        {"x_http_method_override": "DELETE"},
        {"x_original_url": "/class", "x_rewrite_url": "/class"},
    ],
)
def test_no_header_makes_somebody_of_a_stranger(app, headers: dict[str, str]) -> None:
    for path in ("/", "/class", f"/weeks/{WEEK}"):
        answers = Answers()
        asyncio.run(app(scope(path, **headers), never, answers.send))
        assert answers.status == 303, path


def test_guessing_tokens_is_slowed_down_whoever_one_says_to_be(
    service, door: Login, monkeypatch
) -> None:
    monkeypatch.setattr(routes, "TOKEN_RATE", (100, 0.001))  # however slow this machine is
    client, found = TestClient(application(service, door)), []
    for number in range(105):
        said = {"x-forwarded-for": f"203.0.113.{number}", "user-agent": str(number)}
        token = {"token": f"guess-number-{number:04}"}
        found.append(client.post("/enter", data=token, headers=said).status_code)
    assert found == [401] * 100 + [429] * 5


def test_a_request_that_failed_is_forgotten_once_the_database_answers(
    app, service, monkeypatch
) -> None:
    service.incidents.open("requests", "a request failed: OperationalError")
    client = TestClient(app)
    assert client.get("/health").status_code == 503
    later = time.time() + 100
    monkeypatch.setattr(time, "time", lambda: later)
    assert client.get("/health").status_code == 200
