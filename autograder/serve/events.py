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

from .actions import own_try
from .answers import RequestError
from .news import CLASS
from .people import Person
from .service import Service
from .views import TryView, as_json

_BEAT = 8.0  # seconds after which a line's length is told anew
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
    _open[who.name] += 1

    async def tell() -> AsyncIterator[bytes]:
        try:
            async for part in _told(service, topic, look):
                yield part
        finally:
            _open[who.name] -= 1

    return StreamingResponse(
        tell(), media_type="text/event-stream", headers={"x-accel-buffering": "no"}
    )


async def _told(
    service: Service, topic: str, look: Callable[[], tuple[dict[str, Any], bool]]
) -> AsyncIterator[bytes]:
    before = b""
    with service.news.listen(topic) as changed:
        while True:
            changed.clear()
            try:
                data, over = await asyncio.to_thread(look)
            except SQLAlchemyError:
                return  # the browser asks again in a while
            now = msgspec.json.encode(data)
            yield b": here\n\n" if now == before else b"event: state\ndata: " + now + b"\n\n"
            before = now
            if over:
                return
            await asyncio.sleep(_PAUSE)
            try:
                await asyncio.wait_for(changed.wait(), _BEAT)
            except TimeoutError:
                continue
