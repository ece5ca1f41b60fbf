"""What the routes of instructors do. Each blocks, and is called in a thread."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

import msgspec  # isort: skip

from ..auth.accounts import Person
from ..auth.login import Door
from ..service import Service
from .responses import RequestError, see, shown, wants_json
from .student_actions import Sent, own_try


def class_page(service: Service, door: Door, request: Request, who: Person) -> Response:
    view = service.class_view()
    if wants_json(request):
        return JSONResponse(msgspec.to_builtins(view))
    return shown(service, request, who, "class", view=view)


def again(service: Service, door: Door, request: Request, who: Person, sent: Sent) -> Response:
    """Grade a try again on which the service failed several times."""
    one = own_try(service, request, who)
    if not service.queue.again(one.receipt):
        raise RequestError(409, "This one is not stuck any more.")
    service.wake()
    return see(service, "class")
