"""Learning platforms on the loopback, speaking the published schemas, and failing on request.

Canvas: users of a course, an assignment, its submissions with comments, "Grade or comment on a
submission"; token in the Authorization header, lists in pages with Link headers.
LTI 1.3: RFC 7523 tokens (the signature is verified), NRPS 2.0 memberships, AGS 2.0 line items,
scores (rejected if older than the stored one) and results, with their media types and scopes.
"""

from __future__ import annotations

import datetime as dt
import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import jwt

TOKEN = "canvas-secret-3f9a"
PAGE = 2


class Fault(Exception):
    """Answer with this status, or not at all (0)."""

    def __init__(self, status: int, text: str = "") -> None:
        super().__init__(text)
        self.status, self.text = status, text


class PlatformServer:
    """The data of a platform, and its injected `faults` by number of the write."""

    def __init__(self) -> None:
        self.writes = 0
        self.faults: dict[int, str] = {}  # busy, drop (before), lost (after), refuse
        self.requests: list[tuple[str, str, dict[str, str]]] = []

    url = ""

    def answer(self, method: str, path: str, query: Any, headers: Any, body: bytes) -> Any:
        raise NotImplementedError

    def written(self) -> str:
        """Count a write, and return its injected fault."""
        self.writes += 1
        fault = self.faults.pop(self.writes, "")
        if fault == "busy":
            raise Fault(403, "403 Forbidden (Rate Limit Exceeded)")
        if fault == "drop":
            raise Fault(0)
        if fault == "refuse":
            raise Fault(422, '{"errors": "not today"}')
        return fault


class CanvasServer(PlatformServer):
    """Course 7 with assignment 4411, worth 6 points."""

    def __init__(self) -> None:
        super().__init__()
        self.users = {
            101: ("Ada Lovelace", "ada@example.org", "S-1"),
            102: ("Bob Byte", "bob@example.org", "S-2"),
            103: ("Carla Cache", "carl@example.org", "S-3"),
        }
        self.submissions: dict[int, dict[str, Any]] = {
            n: {"user_id": n, "score": None, "entered_score": None, "submission_comments": []}
            for n in self.users
        }
        self.late_policy = 0.0

    def answer(self, method: str, path: str, query: Any, headers: Any, body: bytes) -> Any:
        if headers.get("Authorization") != f"Bearer {TOKEN}":
            raise Fault(401, '{"errors":[{"message":"Invalid access token."}]}')
        if path == "/api/v1/courses/7/users":
            assert query["enrollment_type[]"] == ["student"]
            return self.page(path, query, [
                {"id": n, "name": name, "login_id": login, "sis_user_id": sis}
                for n, (name, login, sis) in self.users.items()])  # fmt: skip
        base = "/api/v1/courses/7/assignments/4411"
        if path == base:
            return {"id": 4411, "points_possible": 6.0}
        if path == f"{base}/submissions":
            comments = query.get("include[]") == ["submission_comments"]
            listed = [dict(s) for s in self.submissions.values()]
            for one in listed if not comments else ():
                del one["submission_comments"]
            return self.page(path, query, listed)
        found = re.fullmatch(rf"{base}/submissions/(\d+)", path)
        if found and method == "PUT" and int(found[1]) in self.submissions:
            return self.grade(self.submissions[int(found[1])], json.loads(body))
        raise Fault(404, "{}")

    def grade(self, submission: dict[str, Any], sent: dict[str, Any]) -> Any:
        fault = self.written()
        points = float(sent["submission"]["posted_grade"])
        submission["entered_score"] = points
        submission["score"] = points - self.late_policy
        if text := sent.get("comment", {}).get("text_comment"):
            submission["submission_comments"].append({"id": 1, "comment": text})
        if fault == "lost":
            raise Fault(0)
        return submission

    def page(self, path: str, query: Any, items: list[Any]) -> Any:
        number = int(query.get("page", ["1"])[0])
        start = (number - 1) * PAGE
        more = start + PAGE < len(items)
        keep = "".join(f"&{k}={v[0]}" for k, v in query.items() if k != "page")
        link = f'<{self.url}{path}?page={number + 1}{keep}>; rel="next"' if more else ""
        return items[start : start + PAGE], {"Link": f'<{self.url}>; rel="current"' + (
            f", {link}" if link else "")}  # fmt: skip


AGS = "https://purl.imsglobal.org/spec/lti-ags/scope"
ROLE = "http://purl.imsglobal.org/vocab/lis/v2/membership#"
ITEM = "application/vnd.ims.lis.v2.lineitem+json"
SCORE = "application/vnd.ims.lis.v1.score+json"


class LtiServer(PlatformServer):
    """One context with three learners and a teacher; `public` verifies the tool's statements."""

    def __init__(self, public: str) -> None:
        super().__init__()
        self.public, self.tokens, self.seen = public, set[str](), set[str]()
        self.items: list[dict[str, Any]] = []
        self.results: dict[str, dict[str, Any]] = {}
        self.members = [
            ("u-1", "Ada Lovelace", "ada@example.org", "Learner", "Active"),
            ("u-2", "Bob Byte", "bob@example.org", "Learner", "Active"),
            ("u-3", "Carla Cache", "carl@example.org", "Learner", "Active"),
            ("u-4", "Gone Away", "gone@example.org", "Learner", "Inactive"),
            ("u-5", "Terry Teacher", "ada@school.org", "Instructor", "Active"),
        ]

    def answer(self, method: str, path: str, query: Any, headers: Any, body: bytes) -> Any:
        if path == "/token":
            return self.token(parse_qs(body.decode()))
        if headers.get("Authorization", "").removeprefix("Bearer ") not in self.tokens:
            raise Fault(401, "{}")
        if path == "/members":
            assert headers["Accept"] == "application/vnd.ims.lti-nrps.v2.membershipcontainer+json"
            return {"id": self.url, "context": {"id": "c"}, "members": [
                {"user_id": n, "name": name, "email": mail, "roles": [f"{ROLE}{role}"],
                 "status": status} for n, name, mail, role, status in self.members]}  # fmt: skip
        if path == "/items" and method == "GET":
            assert headers["Accept"] == "application/vnd.ims.lis.v2.lineitemcontainer+json"
            return self.items
        if path == "/items":
            assert headers["Content-Type"] == ITEM
            item = json.loads(body) | {"id": f"{self.url}/items/1?tenant=x"}
            assert {"scoreMaximum", "label"} <= item.keys()
            self.items.append(item)
            return item
        if path == "/items/1/results":
            assert query["tenant"] == ["x"]
            return [dict(r) for r in self.results.values()]
        if path == "/items/1/scores":
            assert query["tenant"] == ["x"]
            assert headers["Content-Type"] == SCORE
            return self.score(json.loads(body))
        raise Fault(404, "{}")

    def token(self, sent: dict[str, list[str]]) -> Any:
        assert sent["grant_type"] == ["client_credentials"]
        kind = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
        assert sent["client_assertion_type"] == [kind]
        try:
            claim = jwt.decode(
                sent["client_assertion"][0],
                self.public,
                algorithms=["RS256"],
                audience=f"{self.url}/token",
                options={"require": ["iss", "sub", "aud", "iat", "exp", "jti"]},
            )
        except jwt.PyJWTError as error:
            raise Fault(400, json.dumps({"error": "invalid_client"})) from error
        assert claim["iss"] == claim["sub"] == "tool-9"
        assert claim["jti"] not in self.seen
        self.seen.add(claim["jti"])
        assert f"{AGS}/score" in sent["scope"][0].split()
        token = f"token-{len(self.tokens)}"
        self.tokens.add(token)
        return {"access_token": token, "token_type": "Bearer", "expires_in": 3600}

    def score(self, score: dict[str, Any]) -> Any:
        fault = self.written()
        at = dt.datetime.fromisoformat(score["timestamp"])
        assert at.tzinfo is not None
        assert score["activityProgress"] == "Completed"
        assert score["gradingProgress"] == "FullyGraded"
        held = self.results.get(score["userId"])
        if held and held["at"] >= score["timestamp"]:
            raise Fault(409, "{}")
        self.results[score["userId"]] = {
            "id": f"{self.url}/items/1/results/{score['userId']}",
            "scoreOf": f"{self.url}/items/1",
            "userId": score["userId"],
            "resultScore": score["scoreGiven"] * 10,  # a platform may scale
            "resultMaximum": score["scoreMaximum"] * 10,
            "comment": score.get("comment", ""),
            "at": score["timestamp"],
        }
        if fault == "lost":
            raise Fault(0)
        return None


@contextmanager
def serving(platform: PlatformServer) -> Iterator[PlatformServer]:
    """The platform on a port of the loopback."""

    class Handler(BaseHTTPRequestHandler):
        def _answer(self) -> None:
            parts = urlsplit(self.path)
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            platform.requests.append((self.command, self.path, dict(self.headers)))
            try:
                with lock:
                    query = parse_qs(parts.query)
                    found = platform.answer(self.command, parts.path, query, self.headers, body)
            except Fault as fault:
                if not fault.status:
                    self.connection.close()
                    self.close_connection = True
                    return
                self._send(fault.status, fault.text.encode(), {})
                return
            data, headers = found if isinstance(found, tuple) else (found, {})
            self._send(200, b"" if data is None else json.dumps(data).encode(), headers)

        def _send(self, status: int, data: bytes, headers: dict[str, str]) -> None:
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            pass

        do_GET = do_PUT = do_POST = _answer

    lock = threading.Lock()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    platform.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield platform
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
