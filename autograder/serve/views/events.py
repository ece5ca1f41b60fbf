"""Server-sent events: a submission's view, each time it changes."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable

import msgspec
from sqlalchemy.exc import SQLAlchemyError
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from ..auth.login import RequestError
from ..grading_service import Service
from .handlers import visible_submission
from .request_context import RequestContext
from .view_models import SubmissionView

# Seconds between updates of the estimated wait: longer waits are updated less often.
_INTERVAL, _MAX_INTERVAL = 8.0, 30.0
_MIN_INTERVAL = 0.3  # however often it changes
MAX_STREAMS = 6  # open at the same time, per person
_open_streams: Counter[str] = Counter()


async def follow(context: RequestContext) -> StreamingResponse:
    """Stream the view of a submission until it is done."""
    service, person = context.service, context.person
    submission = await asyncio.to_thread(visible_submission, context)
    if _open_streams[person.name] >= MAX_STREAMS:
        raise RequestError(429, "You have too many pages open. Close some.", 5)

    def view() -> SubmissionView:
        current = service.queue.find(submission.receipt) or submission
        instructor = person.role == "instructor"
        return service.views.submission(current, for_instructor=instructor)

    return _CountedStream(person.name, stream(service, submission.receipt, view))


class _CountedStream(StreamingResponse):
    """An open stream, counted until it ends, even if the client disconnects at once."""

    def __init__(self, name: str, parts: AsyncIterator[bytes]) -> None:
        super().__init__(parts, media_type="text/event-stream", headers={"x-accel-buffering": "no"})
        self._name = name
        _open_streams[name] += 1

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            _open_streams[self._name] -= 1
            if not _open_streams[self._name]:
                del _open_streams[self._name]


async def stream(
    service: Service, receipt: str, view: Callable[[], SubmissionView]
) -> AsyncIterator[bytes]:
    """Yield events; a comment instead of an unchanged view keeps the connection open."""
    previous = b""
    with service.updates.subscribe(receipt) as changed:
        while True:
            changed.clear()
            try:
                current = await service.run_background(view)
            except SQLAlchemyError:
                return  # the browser reconnects after a while
            data = msgspec.json.encode(current)
            yield b": unchanged\n\n" if data == previous else b"event: state\ndata: %b\n\n" % data
            previous = data
            if current.done:
                return
            await asyncio.sleep(_MIN_INTERVAL)
            interval = min(_MAX_INTERVAL, max(_INTERVAL, current.seconds / 8))
            try:
                await asyncio.wait_for(changed.wait(), interval)
            except TimeoutError:
                continue
