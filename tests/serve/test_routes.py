"""Every route as every role, and the checks before a body is parsed."""

from __future__ import annotations

import io
import re
import zipfile
from pathlib import Path

import msgspec
import pytest
from starlette.testclient import TestClient

from autograder.model.submission_files import digest_of
from autograder.serve.request_limits import HEADERS, RateLimit
from autograder.serve.shared_state import Address
from autograder.serve.views import routes
from autograder.serve.views.routes import ROUTES, application
from tests.nbgrader.tiny_course import SOLUTION, WEEK

ROLES = ("stranger", "another student", "the student", "assistant", "instructor")
# The status for each role. Routes that a role may not use are 404; 303 redirects to the login page.
TABLE = {
    ("GET", "/health"): (200, 200, 200, 200, 200),
    ("GET", "/static/{name}"): (200, 200, 200, 200, 200),
    ("GET", "/enter"): (200, 303, 303, 303, 303),
    ("POST", "/enter"): (401, 401, 401, 401, 401),
    ("GET", "/oauth_callback"): (404, 404, 404, 404, 404),
    ("POST", "/leave"): (401, 303, 303, 303, 303),
    ("POST", "/token"): (401, 200, 200, 200, 200),
    ("GET", "/"): (303, 200, 200, 303, 303),
    ("GET", "/weeks/{week}"): (303, 200, 200, 303, 303),
    ("POST", "/weeks/{week}/review"): (401, 303, 303, 403, 403),
    ("GET", "/weeks/{week}/review"): (303, 200, 200, 403, 403),
    ("POST", "/weeks/{week}/tries"): (401, 303, 303, 403, 403),
    ("GET", "/weeks/{week}/feedback"): (303, 404, 404, 404, 404),
    ("GET", "/tries/{receipt}"): (303, 404, 200, 200, 200),
    ("GET", "/tries/{receipt}/files"): (303, 404, 200, 200, 200),
    ("POST", "/tries/{receipt}/restore"): (401, 404, 409, 403, 409),
    ("GET", "/class"): (303, 404, 404, 200, 200),
    ("POST", "/weeks/{week}/request"): (401, 409, 409, 403, 403),
    ("GET", "/marking"): (303, 404, 404, 200, 200),
    ("GET", "/marking/{week}"): (303, 404, 404, 200, 200),
    ("GET", "/marking/{week}/{question}"): (303, 404, 404, 200, 200),
    ("POST", "/marking/{week}/{question}"): (401, 404, 404, 422, 422),
    ("GET", "/gradebook"): (303, 404, 404, 200, 200),
    ("GET", "/gradebook/grades.csv"): (303, 404, 404, 404, 422),
    ("POST", "/gradebook/{week}/feedback"): (401, 404, 404, 404, 422),
    ("GET", "/requests"): (303, 404, 404, 200, 200),
    ("POST", "/requests/{week}"): (401, 404, 404, 409, 409),
    ("GET", "/extensions"): (303, 404, 404, 200, 200),
    ("POST", "/extensions"): (401, 404, 404, 404, 422),
    ("GET", "/people"): (303, 404, 404, 404, 200),
    ("POST", "/people"): (401, 404, 404, 404, 422),
}
FOR_STAFF = {path for (_, path), answers in TABLE.items() if answers[2] == 404}
FILES = {"files": ("doubling.py", SOLUTION.encode() + b"# again\n")}


def filled(path: str, receipt: str) -> str:
    return path.format(name="style.css", week=WEEK, receipt=receipt, question="why")


def asked(client: TestClient, method: str, path: str, form_key: str) -> int:
    if method == "POST":
        files = FILES if path.endswith(("/tries", "/review")) else None
        return client.post(path, data={"key": form_key, "token": "x" * 20}, files=files).status_code
    return client.get(path).status_code


def test_every_route_is_in_the_table() -> None:
    assert {(row.method, row.path) for row in ROUTES} == set(TABLE)


@pytest.mark.parametrize("role", ROLES)
def test_every_route_as_every_role(service, client, sign_in, receipt, role) -> None:
    names = {
        "another student": "eve",
        "the student": "ada",
        "assistant": "bea",
        "instructor": "prof",
    }
    found = {}
    for method, path in TABLE:
        own, form_key = client, ""
        if role in names:
            rank = role if role in ("assistant", "instructor") else "student"
            own, person = sign_in(names[role], rank)
            form_key = person.form_key
        found[method, path] = asked(own, method, filled(path, receipt), form_key)
    assert found == {route: answers[ROLES.index(role)] for route, answers in TABLE.items()}


def test_a_form_without_its_key_is_refused(sign_in, receipt) -> None:
    for method, path in TABLE:
        if method == "POST":
            client, _ = sign_in("ada", "instructor" if path in FOR_STAFF else "student")
            for key in ("", "0" * 64):
                assert asked(client, method, filled(path, receipt), key) == 403, path


@pytest.mark.parametrize(
    "headers",
    [{"origin": "https://evil.example"}, {"sec-fetch-site": "cross-site"}, {"origin": "null"}],
)
def test_what_another_site_sends_is_refused(sign_in, service, week, headers) -> None:
    client, person = sign_in("ada")
    path = f"/weeks/{week.name}/tries"
    answer = client.post(path, data={"key": person.form_key}, files=FILES, headers=headers)
    assert answer.status_code == 403
    assert service.queue.of_student("ada", WEEK) == []


def test_behind_a_proxy_the_address_that_was_given_is_ours(service, door, week) -> None:
    address = Address(public_url="https://grade.example.org/")
    settings = msgspec.structs.replace(service.settings, address=address)
    service.settings = settings
    person = service.accounts.start_session("ada", "student", "browser")
    app = application(service, door)
    client = TestClient(app, base_url="http://127.0.0.1:8000", follow_redirects=False)
    client.cookies.set("autograder-session", person.key)
    path, form = f"/weeks/{week.name}/tries", {"key": person.form_key}
    for origin, status in (("https://grade.example.org", 303), ("https://evil.example", 403)):
        answer = client.post(path, data=form, files=FILES, headers={"origin": origin})
        assert answer.status_code == status


@pytest.mark.parametrize("path", ["/", "/nothing", "/enter", "/static/style.css", "/health"])
def test_every_answer_has_the_headers(client, path) -> None:
    answer = client.get(path)
    own = {"cache-control"} if path.startswith("/static") else set()
    assert {n: answer.headers.get(n) for n in HEADERS if n not in own} == {
        n: v for n, v in HEADERS.items() if n not in own
    }


def test_what_is_too_large_is_refused_unread(service, client) -> None:
    def never():
        pytest.fail("the body was read")
        yield b""

    for path, size in (("/enter", 1 << 20), (f"/weeks/{WEEK}/tries", 1 << 30)):
        answer = client.post(path, content=never(), headers={"content-length": str(size)})
        assert answer.status_code == 413


def test_what_does_not_say_its_length_is_refused(client) -> None:
    def endless():
        yield b"token="

    assert client.post("/enter", content=endless()).status_code == 411


def test_a_strangers_files_are_never_parsed(client, monkeypatch, service) -> None:
    async def parsed(*_):
        pytest.fail("it was parsed")

    monkeypatch.setattr("autograder.serve.views.routes.read_form", parsed)
    assert client.post(f"/weeks/{WEEK}/tries", files=FILES).status_code == 401


def test_who_asks_too_often_has_to_wait(service, door, monkeypatch) -> None:
    monkeypatch.setattr(routes, "TOKEN_RATE", (100, 0.001))  # however slow this machine is
    client = TestClient(application(service, door))
    answers = [client.post("/enter", data={"token": "guess" * 4}) for _ in range(110)]
    assert [a.status_code for a in answers[:100]] == [401] * 100
    assert answers[-1].status_code == 429
    assert int(answers[-1].headers["retry-after"]) >= 1


def test_a_rate_is_a_burst_and_then_so_many_in_a_minute() -> None:
    now = [0.0]
    rate = RateLimit(2, 60, lambda: now[0])
    assert [rate.wait("a"), rate.wait("a"), rate.wait("b")] == [0, 0, 0]
    assert rate.wait("a") == 1.0
    now[0] = 1.0
    assert rate.wait("a") == 0


def test_a_token_works_once(service, client) -> None:
    token = service.accounts.create_token("ada")
    first = client.post("/enter", data={"token": token})
    assert first.status_code == 303
    assert "autograder-session" in first.cookies
    client.cookies.clear()
    assert client.post("/enter", data={"token": token}).status_code == 401


def test_a_new_token_takes_the_place_of_one_that_nobody_used(service, client) -> None:
    old, new = service.accounts.create_token("ada"), service.accounts.create_token("ada")
    assert client.post("/enter", data={"token": old}).status_code == 401
    assert client.post("/enter", data={"token": new}).status_code == 303


def test_whoever_lost_a_machine_is_signed_out_everywhere(sign_in, service) -> None:
    client, _ = sign_in("ada")
    other, _ = sign_in("alan")
    service.accounts.revoke("ada")
    assert client.get("/").status_code == 303
    assert other.get("/").status_code == 200


def test_a_session_ends_when_somebody_signs_out_and_by_itself(sign_in, service) -> None:
    client, person = sign_in("ada")
    assert client.get("/").status_code == 200
    client.post("/leave", data={"key": person.form_key})
    client.cookies.set("autograder-session", person.key)
    assert client.get("/").status_code == 303
    client, person = sign_in("ada")
    service.accounts.clock = lambda: 1e11
    assert client.get("/").status_code == 303


def test_a_browsers_key_is_no_programs(sign_in, client) -> None:
    _, person = sign_in("ada")
    assert client.get("/", headers={"authorization": f"Bearer {person.key}"}).status_code == 303


def test_secrets_are_neither_in_the_log_nor_in_the_database(service, client, capfd, course) -> None:
    token = service.accounts.create_token("ada")
    answer = client.post(f"/enter?token={token}", data={"token": token})
    session = answer.cookies["autograder-session"]
    client.get("/?key=secret-in-a-query")
    log = capfd.readouterr().err
    assert "POST /enter 303" in log
    stored = (course.state / "serve.db").read_bytes()
    stored += (course.state / "serve.db-wal").read_bytes()
    for secret in (token, session, "secret-in-a-query"):
        assert secret not in log
        assert secret.encode() not in stored


def test_the_database_is_its_owners_alone(service, course) -> None:
    assert (course.state / "serve.db").stat().st_mode & 0o077 == 0


def zipped(names: dict[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, data in names.items():
            archive.writestr(name, data)
    return stream.getvalue()


HOSTILE_NAMES = (
    *("../../evil.py", "/etc/evil.py", "..\\evil.py", "a/../../evil.py", "C:\\evil.py"),
    *(".hidden.py", "x\x00.py", "a\nb.py", "<b>.py", "timestamp.txt", "submission_secret.txt"),
    *("conftest.sh", "~root.py", "$(id).py", "-rf.py", "a//..//b.py"),
)


@pytest.mark.parametrize("how", ["form", "zip"])
def test_no_name_that_was_sent_becomes_a_path(sign_in, service, week, how) -> None:
    for number, name in enumerate(HOSTILE_NAMES):
        student = f"student{number}"
        client, person = sign_in(student)
        work = {"doubling.py": SOLUTION.encode(), name: b"evil"}
        sent = [("files", (n, d)) for n, d in work.items()]
        if how == "zip":
            sent = [("files", ("all.zip", zipped(work)))]
        path = f"/weeks/{week.name}/tries"
        answer = client.post(path, data={"key": person.form_key}, files=sent)
        tries = service.queue.of_student(student, WEEK)
        if answer.status_code != 303:
            assert answer.status_code in (400, 422), name
            assert tries == []
            continue
        (one,) = tries
        with zipfile.ZipFile(io.BytesIO(service.queue.content(one.digest))) as archive:
            names = archive.namelist()
        assert "doubling.py" in names, name
        assert all(re.fullmatch(r"[\w(][\w .()+,/-]*", n) and ".." not in n for n in names)
        assert not {"timestamp.txt", "submission_secret.txt"} & set(names)


@pytest.mark.parametrize("week", ["..%2f..%2fetc", "week99", "%00", "week01_tiny%2f.."])
def test_no_week_that_was_sent_becomes_a_path(sign_in, week) -> None:
    client, _ = sign_in("ada")
    assert client.get(f"/weeks/{week}").status_code == 404


@pytest.mark.parametrize("name", ["../people.py", "page.css.j2", "..%2f..%2fcourse.yaml", "x"])
def test_only_the_styles_and_the_script_are_files(client, name) -> None:
    assert client.get(f"/static/{name}").status_code == 404


def test_a_receipt_says_what_was_kept(sign_in, service, week) -> None:
    client, person = sign_in("ada")
    path = f"/weeks/{week.name}/tries"
    answer = client.post(
        path,
        data={"key": person.form_key},
        files=FILES,
        headers={"accept": "application/json"},
    )
    assert answer.status_code == 201
    said = answer.json()
    assert said["digest"] == digest_of({"doubling.py": FILES["files"][1]})
    kept = service.queue.find(said["receipt"])
    assert (kept.student, kept.week, kept.channel) == ("ada", week.name, "page")


def test_the_same_files_again_are_the_same_try(sign_in, service, week) -> None:
    client, person = sign_in("ada")
    for _ in range(2):
        client.post(f"/weeks/{week.name}/tries", data={"key": person.form_key}, files=FILES)
    assert len(service.queue.of_student("ada", WEEK)) == 1


def test_what_cannot_be_graded_is_said_at_once_and_takes_no_try(sign_in, service, week) -> None:
    client, person = sign_in("ada")
    answer = client.post(
        f"/weeks/{week.name}/tries",
        data={"key": person.form_key},
        files={"files": ("solution.py", b"x = 1\n")},
    )
    assert answer.status_code == 422
    assert "doubling.py" in answer.text
    assert service.queue.of_student("ada", WEEK) == []


def test_what_a_student_chose_is_text_on_every_page(sign_in, service, week) -> None:
    client, person = sign_in("ada")
    bad = {"files": ("<script>alert(1)</script>.exe", b"x")}
    answer = client.post(f"/weeks/{week.name}/tries", data={"key": person.form_key}, files=bad)
    assert "<script>alert" not in answer.text


def test_a_database_that_is_down_is_said_and_nothing_is_received(
    sign_in, service, week, monkeypatch
) -> None:
    from sqlalchemy.exc import OperationalError

    client, person = sign_in("ada")

    def down(*_, **__):
        raise OperationalError("INSERT", {}, Exception("disk I/O error"))

    monkeypatch.setattr(service.queue, "add", down)
    answer = client.post(f"/weeks/{week.name}/tries", data={"key": person.form_key}, files=FILES)
    assert answer.status_code == 503
    assert "were not received" in answer.text
    assert "INSERT" not in answer.text
    assert client.get("/health").status_code == 503


def test_no_template_lets_anything_through_unescaped() -> None:
    import autograder.serve

    folder = Path(autograder.serve.__file__).parent / "templates"
    for template in folder.glob("*.j2"):
        text = template.read_text("utf-8")
        assert "|safe" not in text.replace(" ", "")
        assert "autoescape false" not in text
        assert " style=" not in text
        assert not re.search(r"\son\w+=", text)
