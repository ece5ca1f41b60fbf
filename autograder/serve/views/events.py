"""Server-sent events: a try as it grows, the class as it is."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable
from typing import Any

import msgspec
from sqlalchemy.exc import SQLAlchemyError
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from ..auth.accounts import Person
from ..service import Service
from .notifications import CLASS
from .responses import RequestError
from .student_actions import own_try
from .view_models import TryView, as_json

# Seconds after which the length of a line is told anew: the longer, the less often.
_BEAT, _LONGEST_BEAT = 8.0, 30.0
_PAUSE = 0.3  # between two, however fast it grows
_MOST = 6  # open at a time, for one person
_open: Counter[str] = Counter()


async def of_try(service: Service, request: Request, who: Person) -> Response:
    one = await asyncio.to_thread(own_try, service, request, who)

    def look() -> tuple[dict[str, Any], bool]:
        now = service.queue.find(one.receipt) or one
        view: TryView = service.views.one(now, viewer=who)
        return as_json(view), view.over

    return _stream(service, who, one.receipt, look)


async def of_class(service: Service, request: Request, who: Person) -> Response:
    def look() -> tuple[dict[str, Any], bool]:
        return msgspec.to_builtins(service.class_view()), False

    return _stream(service, who, CLASS, look)


def _stream(
    service: Service, who: Person, topic: str, look: Callable[[], tuple[dict[str, Any], bool]]
) -> Response:
    if _open[who.name] >= _MOST:
        raise RequestError(429, "You have too many pages open. Close some.", 5)
    return _LiveAnswer(who.name, _told(service, topic, look))


class _LiveAnswer(StreamingResponse):
    """Counted from its beginning to its end, also where nobody is left to read its first line."""

    def __init__(self, name: str, parts: AsyncIterator[bytes]) -> None:
        super().__init__(parts, media_type="text/event-stream", headers={"x-accel-buffering": "no"})
        self._name = name
        _open[name] += 1

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            _open[self._name] -= 1
            if not _open[self._name]:
                del _open[self._name]


async def _told(
    service: Service, topic: str, look: Callable[[], tuple[dict[str, Any], bool]]
) -> AsyncIterator[bytes]:
    before = b""
    with service.news.listen(topic) as changed:
        while True:
            changed.clear()
            try:
                data, over = await service.look(look)
            except SQLAlchemyError:
                return  # the browser asks again in a while
            now = msgspec.json.encode(data)
            yield b": here\n\n" if now == before else b"event: state\ndata: " + now + b"\n\n"
            before = now
            if over:
                return
            await asyncio.sleep(_PAUSE)
            try:
                await asyncio.wait_for(changed.wait(), _beat(data))
            except TimeoutError:
                continue


def _beat(data: dict[str, Any]) -> float:
    return min(_LONGEST_BEAT, max(_BEAT, float(data.get("seconds", 0)) / 8))
