"""The context of a request, with methods that build responses.

Browsers get pages, `autograder submit` gets JSON.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import msgspec
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.formparsers import MultiPartException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response

from ...pages.environment import environment
from ..login import Login, Person, RequestError

if TYPE_CHECKING:
    from ..grading_service import Service


_MAX_FILES = 400


@dataclass
class Form:
    """The body of a request."""

    fields: dict[str, str] = field(default_factory=dict)
    files: dict[str, bytes] = field(default_factory=dict)


@dataclass
class RequestContext:
    """A request that is being handled. `form`: the body of a POST request."""

    service: Service
    login: Login
    request: Request
    visitor: Person | None = None
    form: Form = field(default_factory=Form)

    @property
    def person(self) -> Person:
        """Return the authenticated person; only for routes that require one."""
        assert self.visitor is not None
        return self.visitor

    @property
    def wants_json(self) -> bool:
        return "application/json" in self.request.headers.get("accept", "")

    def page(self, template: str, status: int = 200, **values: Any) -> Response:
        """Render a template, which escapes everything."""
        values |= {"prefix": self.service.settings.prefix, "who": self.visitor}
        values["course"] = self.service.courses.now
        page = environment("serve").get_template(f"{template}.html.j2")
        return HTMLResponse(page.render(values), status)

    def answer(self, view: Any, template: str, status: int = 200, /, **values: Any) -> Response:
        """Return a view: as JSON for a program, as a page for a browser."""
        if self.wants_json:
            return JSONResponse(msgspec.to_builtins(view), status)
        return self.page(template, status, **values)

    def redirect(self, path: str) -> Response:
        """Redirect to another page of the service."""
        return RedirectResponse(f"{self.service.settings.prefix}{path}", 303)

    def refuse(self, error: RequestError) -> Response:
        """Return the response for a refused request."""
        if error.redirect and not self.wants_json:
            return RedirectResponse(error.redirect, 303)
        program = self.visitor is not None and self.visitor.kind == "program"
        response: Response
        if self.wants_json or program:
            response = JSONResponse({"error": str(error)}, error.status)
        else:
            response = self.page("message", error.status, message=str(error))
        if error.wait:
            MutableHeaders(raw=response.raw_headers)["retry-after"] = str(int(error.wait) + 1)
        return response


async def read_form(request: Request, *, with_files: bool) -> Form:
    """Parse the body of an authenticated request within its limits; raise RequestError."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    try:
        if with_files and kind == "application/zip":
            data = await request.body()
            return Form(files={"submission.zip": data} if data else {})
        limit = _MAX_FILES if with_files else 0
        async with request.form(max_files=limit, max_fields=8, max_part_size=4096) as parts:
            form = Form()
            for name, value in parts.multi_items():
                if isinstance(value, str):
                    form.fields[name] = value
                elif value.filename:
                    if value.filename in form.files:
                        raise RequestError(422, f"There are two files named {value.filename!r}.")
                    form.files[value.filename] = await value.read()
            return form
    except (MultiPartException, HTTPException, ValueError, ClientDisconnect):
        raise RequestError(400, "This form is damaged or incomplete. Send it again.") from None
    except TimeoutError:
        raise RequestError(408, "The upload took too long. Send it again.") from None
