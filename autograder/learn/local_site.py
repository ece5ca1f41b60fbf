"""Serve the learner's pages on 127.0.0.1, and start and stop everything that belongs to them."""

import asyncio
import contextlib
import os
import secrets
import socket
import sys
import webbrowser
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import msgspec
import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers, QueryParams
from starlette.exceptions import HTTPException
from starlette.requests import Request, cookie_parser
from starlette.responses import (
    FileResponse,
    HTMLResponse,
    JSONResponse,
    RedirectResponse,
    Response,
)
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from ..authoring.lesson.marking_guide import marking_guides
from ..files import alone, replace_file
from ..model.course import Course, Week
from ..model.errors import KitError
from ..pages.environment import environment
from ..pages.markdown import code, code_styles
from ..serve.request_limits import SMALL_BODY, RequestLimits
from ..student.folder.lessons import hints_to_show
from ..student.folder.source import restore_stub
from ..student.show.solution import differences, solution_lines
from . import progress_view as views
from .lab_server import LabServer
from .learner_record import LearnerFolder
from .live_grading import LiveGrading, usable_sandbox
from .own_figures import figures_folder, own_figures

_WAIT_SECONDS = 20.0  # after which a page asks again whether it has changed
_STATIC = {"style.css": "text/css", "page.js": "text/javascript"}
_HOST = "127.0.0.1"


class LearnOptions(msgspec.Struct, frozen=True):
    """The options of `autograder learn`. `port`: 0 selects a free port."""

    folder: Path
    port: int
    sandbox: str = "auto"
    jupyter: bool = True
    browser: bool = True


def run(course: Course, options: LearnOptions) -> None:
    """Serve until Ctrl-C is pressed; raise KitError if the site cannot be started."""
    learner = LearnerFolder(course, options.folder)
    sandbox, warning = usable_sandbox(options.sandbox)
    address = learner.state / "address"
    known = address.read_text(encoding="utf-8") if address.is_file() else ""
    running = KitError(f"`autograder learn` is running already for {learner.path}: open {known}")
    with alone(learner.state / "lock", running), _listening(options.port) as listener:
        port = listener.getsockname()[1]
        key = learner.secret("key")
        url = f"http://{_HOST}:{port}/?key={key}"
        replace_file(address, url.encode())
        lab = LabServer(learner, port + 1) if options.jupyter else None
        grading = LiveGrading(learner, sandbox)
        site = LearnerSite(learner, grading, lab, warning, lambda: server.should_exit)

        @asynccontextmanager
        async def lifespan(app: Any) -> AsyncIterator[None]:
            if lab is not None:
                await asyncio.to_thread(lab.start)
            await asyncio.to_thread(_open_current_week, learner, grading)
            task = asyncio.create_task(grading.run())
            _announce(course, learner, url, warning, options.browser)
            try:
                yield
            finally:
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)
                if lab is not None:
                    await asyncio.to_thread(lab.stop)

        app = LocalOnly(site.application(lifespan), key, port)
        config = uvicorn.Config(
            RequestLimits(app, max_body=lambda path: SMALL_BODY, secure=False),
            http="h11",
            ws="none",
            lifespan="on",
            log_level="warning",
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=1,
        )
        server = uvicorn.Server(config)
        with contextlib.suppress(KeyboardInterrupt):
            server.run(sockets=[listener])


def _open_current_week(learner: LearnerFolder, grading: LiveGrading) -> None:
    """Lay out the week to continue with, and load its grading engine before it is needed."""
    weeks = [views.progress_of(learner, week) for week in learner.course.weeks]
    if current := views.current_week(weeks):
        learner.week(current.week)
        grading.request(current.week)


def _announce(
    course: Course, learner: LearnerFolder, url: str, warning: str, browser: bool
) -> None:
    print(f"{course.title}: {url}  (stop with Ctrl-C)")
    print(f"Your files: {learner.path}")
    print(
        f"The solutions are on this disk, in {course.root / 'solutions'}. The pages open a "
        "solution when your exercise passes, or when you give it up."
    )
    if warning:
        print(f"WARNING  {warning}", file=sys.stderr)
    sys.stdout.flush()
    has_screen = sys.platform != "linux" or {"DISPLAY", "WAYLAND_DISPLAY", "BROWSER"} & {
        *os.environ
    }
    if browser and has_screen:
        webbrowser.open(url)


def _listening(port: int) -> socket.socket:
    try:
        return socket.create_server((_HOST, port))
    except OSError as error:
        raise KitError(
            f"port {port} on {_HOST} cannot be used: {os.strerror(error.errno or 0)}. Stop the "
            "program that uses it, or choose a different --port (0: any free port)"
        ) from None


class LocalOnly:
    """ASGI middleware that rejects requests from other sites and other programs.

    The address with `?key=…` sets the cookie. Its name contains the port, because browsers send
    the cookies of one port to all ports of a host.
    """

    def __init__(self, app: ASGIApp, key: str, port: int) -> None:
        self._app, self._key, self._cookie = app, key, f"autograder-learn-{port}"
        self._hosts = {f"{_HOST}:{port}", f"localhost:{port}"}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        app = self._app
        if scope["type"] == "http":
            app = self._answer(scope, Headers(scope=scope)) or app
        await app(scope, receive, send)

    def _answer(self, scope: Scope, headers: Headers) -> Response | None:
        """Return the response to a request that sets the cookie or is rejected, else None."""
        if headers.get("host") not in self._hosts:
            return HTMLResponse("This site has a different address.", 421)
        if (
            scope["method"] != "GET"
            and urlsplit(headers.get("origin", "")).netloc != headers["host"]
        ):
            return HTMLResponse("This request was sent by a page of a different site.", 403)
        given = QueryParams(scope["query_string"]).get("key", "")
        if scope["path"] == "/" and self._is_key(given):
            response = RedirectResponse("/", 303)
            response.set_cookie(
                self._cookie, given, max_age=365 * 86_400, httponly=True, samesite="lax"
            )
            return response
        if self._is_key(cookie_parser(headers.get("cookie", "")).get(self._cookie, "")):
            return None
        page = environment("learn", "feedback", "serve").get_template("closed.html.j2")
        return HTMLResponse(page.render(), 403)

    def _is_key(self, given: str) -> bool:
        return secrets.compare_digest(given.encode(), self._key.encode())


class LearnerSite:
    """The pages and their forms. Handlers run in threads, except `wait`.

    stopping: returns True when the server is about to exit
    """

    def __init__(
        self,
        learner: LearnerFolder,
        grading: LiveGrading,
        lab: LabServer | None,
        warning: str = "",
        stopping: Callable[[], bool] = lambda: False,
    ) -> None:
        self.learner, self.grading, self.lab, self.warning = learner, grading, lab, warning
        self.stopping = stopping

    def application(self, lifespan: Any = None) -> Starlette:
        week = "/weeks/{week}"
        routes = [
            Route("/", self.home),
            Route("/static/{name}", self.static),
            Route(week, self.week),
            Route(f"{week}/wait", self.wait),
            Route(f"{week}/lab/{{file}}", self.open_lab),
            Route(f"{week}/figures/{{file}}", self.figure),
            Route(f"{week}/solution/{{task}}", self.solution),
            Route(f"{week}/tasks/{{task}}/{{action}}", self.act, methods=["POST"]),
        ]
        handlers = {KitError: self.failed, HTTPException: self.failed}
        return Starlette(routes=routes, lifespan=lifespan, exception_handlers=handlers)

    def _page(self, template: str, status: int = 200, **values: Any) -> Response:
        page = environment("learn", "feedback", "serve").get_template(f"{template}.html.j2")
        shared = {"course": self.learner.course, "prefix": "/", "who": None}
        return HTMLResponse(page.render(shared | {"warning": self.warning} | values), status)

    def failed(self, request: Request, error: Exception) -> Response:
        if isinstance(error, HTTPException):
            return self._page("message", error.status_code, message="Page not found.")
        return self._page("message", 422, message=str(error))

    def _week(self, request: Request) -> Week:
        name = request.path_params["week"]
        for week in self.learner.course.weeks:
            if week.name == name:
                return week
        raise HTTPException(404)

    def home(self, request: Request) -> Response:
        weeks = [views.progress_of(self.learner, week) for week in self.learner.course.weeks]
        return self._page(
            "home", weeks=weeks, current=views.current_week(weeks), folder=self.learner.path
        )

    def static(self, request: Request) -> Response:
        name = request.path_params["name"]
        if name not in _STATIC:
            raise HTTPException(404)
        templates = environment("learn", "feedback", "serve")
        parts = ["page.css", "style.css", "learn.css"] if name == "style.css" else [name]
        text = "\n".join(templates.get_template(part).render() for part in parts)
        if name == "style.css":
            text += f"\n{code_styles()}"
        return Response(text, media_type=_STATIC[name])

    def week(self, request: Request) -> Response:
        """Show a week: the newest results, hints, questions, and figures if it is finished."""
        week, learner = self._week(request), self.learner
        folder = learner.week(week)
        learner.visit(week)
        self.grading.request(week)
        live = self.grading.weeks[week.name]
        progress = views.progress_of(learner, week)
        return self._page(
            "week",
            week=week,
            progress=progress,
            live=live,
            folder=folder.path,
            missing=not folder.module.is_file(),
            copies=folder.newer_copies() if folder.module.is_file() else folder.copies(),
            graded=learner.record(week).report is not None,
            lab=self.lab is not None,
            exercises=views.exercise_tasks(learner, week, folder),
            questions=views.question_tasks(learner, week),
            figures=[] if progress.next else own_figures(learner, week),
        )

    async def wait(self, request: Request) -> Response:
        """Answer when the week's page has to be rendered again, or after `_WAIT_SECONDS`."""
        week, seen = self._week(request), request.query_params.get("seen", "")
        number = int(seen) if seen.isdecimal() else 0
        version = await self.grading.changed(week, number, _WAIT_SECONDS, self.stopping)
        return JSONResponse({"version": str(version)})

    def open_lab(self, request: Request) -> Response:
        """Redirect to JupyterLab, which opens the notebook or the module of a week."""
        week, file = self._week(request), request.path_params["file"]
        self.learner.week(week)
        if self.lab is None or file not in (week.module, f"{week.name}.ipynb"):
            raise HTTPException(404)
        return RedirectResponse(self.lab.address(f"{week.name}/{file}"), 303)

    def figure(self, request: Request) -> Response:
        folder = figures_folder(self.learner, self._week(request))
        path = folder / request.path_params["file"]  # a path parameter contains no slash
        if path.suffix not in (".png", ".svg") or not path.is_file():
            raise HTTPException(404)
        return FileResponse(path)

    def solution(self, request: Request) -> Response:
        """Show an exercise's solution, if the exercise passed or was given up."""
        week, task = self._week(request), request.path_params["task"]
        if not self.learner.record(week).shows_solution(task):
            raise KitError("This solution opens when your exercise passes or you give it up.")
        folder = self.learner.week(week)
        lines = solution_lines(folder, task, views.solution_source(self.learner.course, week))
        try:
            compared = "\n".join(differences(folder, task, lines))
        except KitError as error:
            compared = str(error)
        return self._page(
            "solution", week=week, task=task, source=code("\n".join(lines)), compared=compared
        )

    async def act(self, request: Request) -> Response:
        form = parse_qs((await request.body()).decode("utf-8", "replace"))
        return await run_in_threadpool(self._act, request, form)

    def _act(self, request: Request, form: dict[str, list[str]]) -> Response:
        week, task, action = self._week(request), *map(request.path_params.get, ("task", "action"))
        folder = self.learner.week(week)
        here = f"/weeks/{week.name}"
        if action == "restore":
            restore_stub(folder)
            self.grading.request(week)
            return RedirectResponse(here, 303)
        if task in folder.names and action in ("hint", "give-up"):
            if action == "hint":
                hints_to_show(folder, task, again=False)
                return RedirectResponse(f"{here}#exercise-{task}", 303)
            with self.learner.changing(week) as record:
                record.give_up(task)
            return RedirectResponse(f"{here}/solution/{task}", 303)
        if guide := marking_guides(self.learner.course, week).get(str(task)):
            with self.learner.changing(week) as record:
                if action == "give-up":
                    record.give_up(guide.question)
                    record.met.setdefault(guide.question, [])
                elif action == "open" and guide.question in self.learner.answers(week):
                    record.opened = [*{*record.opened, guide.question} - {*record.given_up}]
                elif action == "assess" and record.shows_solution(guide.question):
                    met = (int(n) for n in form.get("met", ()) if n.isdecimal())
                    record.met[guide.question] = [n for n in met if n < len(guide.rubric)]
            self.grading.request(week)  # draws the figures if the week is finished now
            return RedirectResponse(f"{here}#question-{task}", 303)
        raise HTTPException(404)
