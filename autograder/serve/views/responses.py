"""What an answer is made of: a page for browsers, JSON for `autograder submit`."""

from __future__ import annotations

from typing import Any

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response

from ..auth.accounts import Person
from ..service import Service
from .templating import page


class RequestError(Exception):
    """Ends a request with a status and a sentence for whoever asked, or sends a browser on."""

    def __init__(self, status: int, message: str, wait: float = 0.0, go_to: str = "") -> None:
        super().__init__(message)
        self.status, self.wait, self.go_to = status, wait, go_to


def wants_json(request: Request) -> bool:
    return "application/json" in request.headers.get("accept", "")


def shown(
    service: Service,
    request: Request,
    who: Person | None,
    name: str,
    status: int = 200,
    **values: Any,
) -> Response:
    """A page."""
    prefix, course = service.settings.prefix, service.courses.now
    text = page(name, prefix, who, course, path=request.url.path, **values)
    return HTMLResponse(text, status)


def refusal(
    service: Service, request: Request, who: Person | None, error: RequestError
) -> Response:
    """The answer to a request that was refused."""
    answer: Response
    if error.go_to and not wants_json(request):
        return RedirectResponse(error.go_to, 303)
    if wants_json(request) or (who is not None and who.kind == "program"):
        answer = JSONResponse({"error": str(error)}, error.status)
    else:
        answer = shown(service, request, who, "message", error.status, message=str(error))
    if error.wait:
        MutableHeaders(raw=answer.raw_headers)["retry-after"] = str(int(error.wait) + 1)
    return answer


def see(service: Service, path: str) -> Response:
    """Go on to another page of the service."""
    return RedirectResponse(f"{service.settings.prefix}{path}", 303)
