"""HTTP client for learning platforms: one host, one token, retries, no secrets in logs.

Theory of operation. The platform is trusted, but the network is not, so https is required except on
localhost. The token is sent only to the configured origin. Redirects are errors, and so are
next-page links to a different origin. No message, log or error contains the token. Read requests
are retried after a failure. Write requests are retried only if the platform is busy: after a
connection error they may have taken effect, so the caller first reads the current state.
"""

import os
import stat
import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import httpx

from ..model.availability import LOOPBACK
from ..model.course import Course
from ..model.errors import KitError, PlatformError
from ..model.message_text import replaced


def secret_of(course: Course, variable: str, file: str) -> str:
    """Return the value of the environment variable, or the content of `.autograder/FILE`.

    Raise KitError if both are missing, or if the file is empty or readable by other users.
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


_TIMEOUT_SECONDS = 30.0
_ATTEMPTS = 4
_MAX_PAGES = 500
_BUSY = (429, 502, 503, 504)


class Web:
    """A client for one platform. `pause`: seconds before the first retry; it doubles each time."""

    def __init__(self, base: str, *, pause: float = 1.0) -> None:
        self.base = base.rstrip("/")
        self._origin = _origin(self.base)
        if self._origin[0] != "https" and self._origin[1] not in LOOPBACK:
            raise KitError(f"{base}: use https, because grades and credentials are sent")
        self._pause = pause
        self._client = httpx.Client(timeout=_TIMEOUT_SECONDS, follow_redirects=False)

    def authorize(self, token: str) -> None:
        """Send this bearer token with all following requests."""
        self._client.headers["Authorization"] = f"Bearer {token}"

    def get(self, path: str) -> Any:
        """Send a GET request to a path or URL; return the decoded JSON."""
        return self._send("GET", path, retry=True).json()

    def pages(self, path: str, *, accept: str = "application/json", **params: Any) -> Iterator[Any]:
        """Yield the pages of a list, following `Link` headers with `rel="next"`."""
        options: dict[str, Any] = {"params": params} if params else {}
        for _ in range(_MAX_PAGES):
            response = self._send("GET", path, retry=True, headers={"Accept": accept}, **options)
            yield response.json()
            if "next" not in response.links:
                return
            path, options = response.links["next"]["url"], {}
        raise PlatformError(f"{self._origin[1]}: a list has more than {_MAX_PAGES} pages")

    def write(self, method: str, path: str, **content: Any) -> Any:
        """Send a write request; return the decoded JSON, or None if the response is empty.

        Raise PlatformError if the request fails; `unsure` is set if it may have taken effect.
        """
        response = self._send(method, path, retry=False, **content)
        return response.json() if response.content else None

    def _send(self, method: str, path: str, *, retry: bool, **request: Any) -> httpx.Response:
        """Send a request, with retries while the platform is busy.

        A busy platform rejects a request before it takes effect, so every request can be retried.

        retry: also retry after a connection error
        """
        problem = PlatformError("")
        for number in range(_ATTEMPTS):
            # platforms limit the rate of requests, so double the delay after each attempt
            delay = self._pause * 2**number
            try:
                response = self._client.request(method, self._url(path), **request)
            except httpx.HTTPError as error:
                message = f"{self._origin[1]} cannot be reached: {type(error).__name__}"
                problem = PlatformError(message, unsure=not retry)
                if not retry:
                    raise problem from None
            else:
                if not _is_busy(response):
                    self._check(response)
                    return response
                problem = PlatformError(f"{self._origin[1]} is busy ({response.status_code})")
                after = response.headers.get("retry-after", "")
                delay = max(delay, min(60.0, float(after)) if after.isdecimal() else 0.0)
            time.sleep(delay)
        raise problem

    def _url(self, path: str) -> str:
        url = path if "://" in path else f"{self.base}{path}"
        if _origin(url) != self._origin:
            other = _origin(url)[1]
            raise PlatformError(f"{self._origin[1]} redirects to a different host: {other}")
        return url

    def _check(self, response: httpx.Response) -> None:
        if response.is_success:
            return
        messages = {401: "the credentials were rejected", 403: "the credentials do not allow this",
                    404: "course, assignment or student not found"}  # fmt: skip
        text = " ".join(replaced(response.text[:200]).split()) or "no reason given"
        message = messages.get(response.status_code, text)
        raise PlatformError(f"{self._origin[1]}: {response.status_code}: {message}")


def _origin(url: str) -> tuple[str, str, int | None]:
    parts = urlsplit(url)
    return parts.scheme, parts.hostname or "", parts.port


def _is_busy(response: httpx.Response) -> bool:
    """Return True if the platform is busy; Canvas may report 403 "Rate Limit Exceeded"."""
    limited = response.status_code == 403 and "rate limit" in response.text[:200].casefold()
    return response.status_code in _BUSY or limited
