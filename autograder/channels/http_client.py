"""HTTP client for learning platforms: one host, one token, retries, no secrets in logs.

Theory of operation. The platform is trusted, but the network is not: https is required, except on
localhost. The token is sent only to the configured origin: a redirect is an error, and the next
page of a list must have the same origin. No message, log or error contains the token. Read requests
are retried after a failure. Write requests are not, because it is unknown whether they took effect:
the caller first reads the current state from the platform.
"""

from __future__ import annotations

import os
import re
import stat
import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import httpx

from ..model.course import Course
from ..model.errors import KitError, PlatformError
from ..model.message_text import replaced


def secret_of(course: Course, variable: str, file: str) -> str:
    """Return the value of the environment variable, or the content of `.autograder/FILE`.

    Raise KitError if both are missing, or if other users can read the file.
    """
    if value := os.environ.get(variable, "").strip():
        return value
    path = course.state / file
    shown = path.relative_to(course.root)
    try:
        status = path.stat()
        text = path.read_text(encoding="utf-8").strip()
    except FileNotFoundError:
        raise KitError(
            f"no credentials: store them in {shown} (`install -m 600 /dev/stdin {shown}`, paste, "
            f"Ctrl-D) or in the environment variable {variable}"
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise KitError(f"{shown}: cannot be read: {type(error).__name__}") from None
    if stat.S_IMODE(status.st_mode) & 0o077 or status.st_uid != os.geteuid():
        raise KitError(f"{shown} is readable by other users: chmod 600 {shown}")
    if not text:
        raise KitError(f"{shown} is empty")
    return text


SECONDS = 30.0
_TRIES = 4
_MOST_PAGES = 500
_BUSY = (429, 502, 503, 504)
_NEXT = re.compile(r'<([^>]+)>\s*;[^,]*\brel="?next"?')
_HERE = {"127.0.0.1", "::1", "localhost"}


class Web:
    """A client for one platform.

    pause: seconds before the first retry; doubled for each further retry
    """

    def __init__(self, base: str, *, pause: float = 1.0) -> None:
        self.base = base.rstrip("/")
        self._origin = _origin(self.base)
        if self._origin[0] != "https" and self._origin[1] not in _HERE:
            raise KitError(f"{base}: use https, because grades and credentials are sent")
        self._pause = pause
        self._client = httpx.Client(timeout=SECONDS, follow_redirects=False)

    def authorize(self, token: str) -> None:
        """Send this bearer token with all further requests."""
        self._client.headers["Authorization"] = f"Bearer {token}"

    def get(self, place: str) -> Any:
        """Send a GET request to a path or URL; return the decoded JSON."""
        return self._send("GET", place, again=True).json()

    def pages(
        self, place: str, *, accept: str = "application/json", **params: Any
    ) -> Iterator[Any]:
        """Yield the pages of a list, following `Link` headers with `rel="next"`."""
        following: str | None = place
        for _ in range(_MOST_PAGES):
            if following is None:
                return
            headers = {"Accept": accept}
            answer = self._send(
                "GET", following, again=True, headers=headers, params=params or None
            )
            yield answer.json()
            found, params = _NEXT.search(answer.headers.get("link", "")), {}
            following = found.group(1) if found else None
        raise PlatformError(f"{self._origin[1]}: a list has more than {_MOST_PAGES} pages")

    def write(self, method: str, place: str, **content: Any) -> Any:
        """Send a request once; raise PlatformError with `unsure` if it may have arrived."""
        answer = self._send(method, place, again=False, **content)
        return answer.json() if answer.content else None

    def _send(self, method: str, place: str, *, again: bool, **request: Any) -> httpx.Response:
        """Send a request, with retries if the platform is busy.

        again: also retry after a connection error. A busy platform rejects a request before it
            takes effect, so every request can be retried then.
        """
        problem = PlatformError("")
        for number in range(_TRIES):
            patience = self._pause * 2**number
            try:
                answer = self._client.request(method, self._url(place), **request)
            except httpx.HTTPError as error:
                said = f"{self._origin[1]} cannot be reached: {type(error).__name__}"
                problem = PlatformError(said, unsure=not again)
                if not again:
                    raise problem from None
            else:
                if not _is_busy(answer):
                    self._check(answer)
                    return answer
                problem = PlatformError(f"{self._origin[1]} is busy ({answer.status_code})")
                patience = max(patience, _retry_after(answer))
            # platforms limit the rate of requests, so double the delay after each attempt
            time.sleep(patience)
        raise problem

    def _url(self, place: str) -> str:
        url = place if "://" in place else f"{self.base}{place}"
        if _origin(url) != self._origin:
            raise PlatformError(
                f"{self._origin[1]} redirects to a different host: {_origin(url)[1]}"
            )
        return url

    def _check(self, answer: httpx.Response) -> None:
        if answer.is_success:
            return
        what = {401: "the credentials were rejected", 403: "the credentials do not allow this",
                404: "course, assignment or student not found"}  # fmt: skip
        said = what.get(answer.status_code, _words(answer))
        raise PlatformError(f"{self._origin[1]}: {answer.status_code}: {said}")


def _origin(url: str) -> tuple[str, str, int | None]:
    parts = urlsplit(url)
    return parts.scheme, parts.hostname or "", parts.port


def _is_busy(answer: httpx.Response) -> bool:
    """Return True if the request can be retried; Canvas sends 403 "Rate Limit Exceeded"."""
    limited = answer.status_code == 403 and "rate limit" in answer.text[:200].casefold()
    return answer.status_code in _BUSY or limited


def _retry_after(answer: httpx.Response) -> float:
    """Return the delay in seconds from the Retry-After header, at most 60, or 0 without one."""
    text = answer.headers.get("retry-after", "")
    return min(60.0, float(text)) if text.isdecimal() else 0.0


def _words(answer: httpx.Response) -> str:
    """Return the error message of a response as one short line."""
    return " ".join(replaced(answer.text[:200]).split()) or "no reason given"
