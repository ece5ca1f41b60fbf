"""Around every request: how large and frequent it may be, and what browsers may do with answers.

All of it is decided from the head of a request, before a byte of its body is read.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

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
# Of what does not hand in: a form with a token.
SMALL = 16 << 10
_ARRIVES = 120.0  # seconds within which a body is here
_BODIES = ("POST", "PUT", "PATCH", "DELETE")


class Rate:
    """So many requests at once, and so many in a minute after that, for each key."""

    def __init__(
        self, burst: int, per_minute: float, tick: Callable[[], float] = time.monotonic
    ) -> None:
        self.burst, self.per_second, self._tick = burst, per_minute / 60, tick
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait(self, key: str) -> float:
        """Count a request; 0 if it may go on, else the seconds until one may."""
        now = self._tick()
        left, then = self._left.pop(key, (float(self.burst), now))
        left = min(float(self.burst), left + (now - then) * self.per_second)
        allowed = left >= 1
        self._left[key] = (left - 1 if allowed else left, now)
        while len(self._left) > 50_000:
            self._left.popitem(last=False)
        return 0.0 if allowed else (1 - left) / self.per_second


class Guard:
    """The outermost layer of the application."""

    def __init__(self, app: ASGIApp, *, most: Callable[[str], int], secure: bool) -> None:
        self.app, self._most, self._secure = app, most, secure

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        answer = self._with_headers(send)
        refusal = self._refusal(scope)
        if refusal is not None:
            await refusal(scope, receive, answer)
            return
        most = self._most(scope["path"]) if scope["method"] in _BODIES else 0
        await self.app(scope, self._bounded(receive, most), answer)

    def _refusal(self, scope: Scope) -> PlainTextResponse | None:
        """The answer to a request that is refused by its head, if it is."""
        if scope["method"] not in _BODIES:
            return None
        length = Headers(scope=scope).get("content-length", "")
        if not length.isdecimal():
            return PlainTextResponse("Say how long it is (Content-Length).\n", 411)
        if int(length) > self._most(scope["path"]):
            return PlainTextResponse(
                "This is larger than a week may be. Hand in only your week's folder.\n", 413
            )
        return None

    def _bounded(self, receive: Receive, most: int) -> Receive:
        """What the server passes on, and no more of it than was announced."""
        total, ends = 0, asyncio.get_running_loop().time() + _ARRIVES

        async def bounded() -> Message:
            nonlocal total
            async with asyncio.timeout_at(ends if total < most else None):
                message = await receive()
            total += len(message.get("body", b""))
            if total > most:
                return {"type": "http.disconnect"}
            return message

        return bounded

    def _with_headers(self, send: Send) -> Send:
        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
                if self._secure:
                    headers["strict-transport-security"] = _HTTPS
            await send(message)

        return answer
