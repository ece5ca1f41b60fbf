"""Read requests and build responses: pages for browsers, JSON for `autograder submit`."""

from __future__ import annotations

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
_MAX_FIELDS = 60
_MAX_FIELD = 48 << 10  # bytes, percent-encoded; a comment may have 4000 characters


class Form(msgspec.Struct):
    """The body of a POST request."""

    fields: dict[str, str] = {}
    files: dict[str, bytes] = {}


class RequestContext(msgspec.Struct):
    """A request, its sender, and methods that build the response."""

    service: Service
    login: Login
    request: Request
    visitor: Person | None = None
    form: Form = msgspec.field(default_factory=Form)
    error: str = ""  # why the form was rejected, for the page that shows the form again

    @property
    def person(self) -> Person:
        """Return the authenticated sender. Use only in routes that require a login."""
        assert self.visitor is not None
        return self.visitor

    @property
    def wants_json(self) -> bool:
        return "application/json" in self.request.headers.get("accept", "")

    def page(self, template: str, status: int = 200, **values: Any) -> Response:
        """Render a page from a template, which escapes all values."""
        values |= {"prefix": self.service.settings.address.prefix, "who": self.visitor}
        values |= {"course": self.service.courses.now, "error": self.error}
        values["typed"] = self.form.fields
        page = environment("serve").get_template(f"{template}.html.j2")
        return HTMLResponse(page.render(values), status)

    def answer(self, view: Any, template: str, status: int = 200, /, **values: Any) -> Response:
        """Return `view` as JSON to programs, or a page rendered with `values` to browsers."""
        if self.wants_json:
            return JSONResponse(msgspec.to_builtins(view), status)
        return self.page(template, status, **values)

    def redirect(self, path: str) -> Response:
        """Return a redirect to a path of the service."""
        return RedirectResponse(f"{self.service.settings.address.prefix}{path}", 303)

    def refuse(self, error: RequestError) -> Response:
        """Return a response for an error: JSON for programs, a page or redirect for browsers."""
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
    """Parse the body of a request; raise RequestError if it is malformed or exceeds a limit."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    try:
        if with_files and kind == "application/zip":
            data = await request.body()
            return Form(files={"submission.zip": data} if data else {})
        limit = _MAX_FILES if with_files else 0
        async with request.form(
            max_files=limit, max_fields=_MAX_FIELDS, max_part_size=_MAX_FIELD
        ) as parts:
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
