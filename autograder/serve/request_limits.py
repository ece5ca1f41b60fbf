"""Listen for requests, limit their size and rate, and add security headers to every response.

Anyone may send requests. The Content-Length header is checked before the body is read. Reading
stops if the body is longer than allowed or does not arrive within two minutes.
"""

import asyncio
import os
import socket
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import uvicorn
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ..model.errors import KitError

HEADERS = {
    "content-security-policy": (
        "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; "
        "connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    "cache-control": "no-store",
}
_HTTPS = "max-age=31536000"
SMALL_BODY = 64 << 10  # maximum size (bytes) of forms without files
BODY_SECONDS = 120.0
_METHODS_WITH_BODY = ("POST", "PUT", "PATCH", "DELETE")
_MAX_KEYS = 50_000


def listening(host: str, port: int, remedy: str = "") -> socket.socket:
    """Return a listening socket; raise KitError if the address cannot be used."""
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        return socket.create_server((host, port), family=family)
    except OSError as error:
        why = os.strerror(error.errno or 0)
        raise KitError(f"port {port} on {host} cannot be used: {why}{remedy}") from None


def http_config(application: ASGIApp, **settings: Any) -> uvicorn.Config:
    """Configure a server without WebSockets and logs of requests, which have random keys."""
    fixed: dict[str, Any] = {"http": "h11", "ws": "none", "lifespan": "on"}
    fixed |= {"log_level": "warning", "access_log": False, "server_header": False}
    return uvicorn.Config(application, **fixed, **settings)


class RateLimit:
    """A token bucket for each key: allows `burst` requests at once, then `per_minute`."""

    def __init__(
        self, burst: int, per_minute: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.burst, self.per_second, self._clock = float(burst), per_minute / 60, clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait(self, key: str) -> float:
        """Return 0 and count the request if it is allowed, otherwise the seconds to wait."""
        now = self._clock()
        available, updated = self._buckets.pop(key, (self.burst, now))
        available = min(self.burst, available + (now - updated) * self.per_second)
        allowed = available >= 1
        self._buckets[key] = (available - 1 if allowed else available, now)
        while len(self._buckets) > _MAX_KEYS:
            self._buckets.popitem(last=False)
        return 0.0 if allowed else (1 - available) / self.per_second


class RequestLimits:
    """ASGI middleware that limits bodies and adds headers. `max_body`: limit (bytes) by path."""

    def __init__(self, app: ASGIApp, *, max_body: Callable[[str], int], secure: bool) -> None:
        self.app, self._max_body, self._secure = app, max_body, secure

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        has_body = scope["method"] in _METHODS_WITH_BODY
        limit = self._max_body(scope["path"]) if has_body else 0
        refusal = _refusal(scope, limit) if has_body else None
        app = self.app if refusal is None else refusal
        await app(scope, _limited(receive, limit), self._with_headers(send))

    def _with_headers(self, send: Send) -> Send:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
                if self._secure:
                    headers["strict-transport-security"] = _HTTPS
            await send(message)

        return send_with_headers


def _refusal(scope: Scope, limit: int) -> PlainTextResponse | None:
    """Return an error response if Content-Length is missing or above the limit, else None."""
    length = Headers(scope=scope).get("content-length", "")
    if not length.isdecimal():
        return PlainTextResponse("A Content-Length header is required.\n", 411)
    if int(length) > limit:
        return PlainTextResponse("This is too large. Submit only your week's folder.\n", 413)
    return None


def _limited(receive: Receive, limit: int) -> Receive:
    """Wrap `receive`: disconnect after `limit` bytes; raise TimeoutError after BODY_SECONDS."""
    total, deadline = 0, asyncio.get_running_loop().time() + BODY_SECONDS

    async def limited() -> Message:
        nonlocal total
        async with asyncio.timeout_at(deadline if total < limit else None):
            message = await receive()
        total += len(message.get("body", b""))
        return {"type": "http.disconnect"} if total > limit else message

    return limited
