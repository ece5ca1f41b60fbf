"""Serve the learner's pages on 127.0.0.1, and start and stop everything that belongs to them.

All addresses begin with the learner's random key, which other sites and programs do not know. In
addition, the Host header and the Origin header of forms must be those of the site.
"""

import asyncio
import contextlib
import os
import sys
import webbrowser
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import Any
from urllib.parse import parse_qs, urlsplit

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

from ..authoring.lesson.marking_guide import marking_guides
from ..feedback.view import view_exercise
from ..files import alone, replace_file
from ..model.course import Week
from ..model.course.bank import Bank
from ..model.course.stubs import without_marks
from ..model.errors import KitError
from ..model.report.scoring import ungraded
from ..pages.environment import environment
from ..pages.markdown import code, code_styles, markdown
from ..serve.request_limits import SMALL_BODY, RequestLimits, http_config, listening
from ..student.folder.lessons import hints_of, hints_to_show
from ..student.folder.source import restore_stub
from ..student.show.solution import differences, solution_lines
from .lab_server import HOST, LabServer
from .learner_record import FIGURES, LearnerFolder
from .live_grading import LiveGrading, usable_sandbox
from .own_figures import own_figures
from .week_overview import overview, overviews, question_score

_WAIT_SECONDS = 20.0  # after which a page asks again whether it has changed


def run(learner: LearnerFolder, port: int, sandbox: str, *, jupyter: bool, browser: bool) -> None:
    """Serve until Ctrl-C is pressed; raise KitError if the site cannot be started.

    port: 0 selects a free port. jupyter: start JupyterLab. browser: open the page.
    """
    used, warning = usable_sandbox(sandbox)
    address = learner.state / "address"
    known = address.read_text(encoding="utf-8") if address.is_file() else ""
    running = KitError(f"`autograder learn` is running already for {learner.path}: open {known}")
    remedy = ". Stop the program that uses it, or choose a different --port (0: any free port)"
    with alone(learner.state / "lock", running), listening(HOST, port, remedy) as listener:
        port = listener.getsockname()[1]
        url = f"http://{HOST}:{port}/{learner.key}/"
        replace_file(address, url.encode())
        lab = LabServer(learner, port + 1) if jupyter else None
        grading, failures = LiveGrading(learner, used), list[Any]()
        _, current = overviews(learner)
        if current is not None:  # load its engine before it is needed
            learner.week(current.week)
            grading.request(current.week)

        @asynccontextmanager
        async def lifespan(app: Any) -> AsyncIterator[None]:
            if lab is not None:
                lab.start()
            task = asyncio.create_task(grading.run())
            task.add_done_callback(lambda _: setattr(server, "should_exit", True))
            print(f"{learner.course.title}: {url}  (stop with Ctrl-C)\nYour files: {learner.path}")
            print(f"The solutions are on this disk, too: {learner.course.root / 'solutions'}")
            print(f"WARNING  {warning}\n" if warning else "", end="", flush=True)
            screens = {"DISPLAY", "WAYLAND_DISPLAY", "BROWSER"}
            if browser and (sys.platform != "linux" or screens & {*os.environ}):
                webbrowser.open(url)
            try:
                yield
            finally:
                task.cancel()
                failures.extend(await asyncio.gather(task, return_exceptions=True))
                if lab is not None:
                    await lab.stop()

        site = LearnerSite(learner, grading, lab, warning, lambda: server.should_exit)
        config = http_config(site.application(lifespan), timeout_graceful_shutdown=1)
        server = uvicorn.Server(config)
        with contextlib.suppress(KeyboardInterrupt):
            server.run(sockets=[listener])
        for group in (f for f in failures if isinstance(f, ExceptionGroup)):
            raise KitError(f"the saves in {learner.path} cannot be graded: {group.exceptions[0]}")


class LearnerSite:
    """The pages and their forms. `stopping`: returns True when the server is about to exit."""

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

    def application(self, lifespan: Any = None) -> ASGIApp:
        routes = [
            Route("/", self.home),
            Route("/static/{name}", self.static),
            Mount("/figures", StaticFiles(directory=self.learner.state / FIGURES)),
            Route("/weeks/{week}", self.week),
            Route("/weeks/{week}/wait", self.wait),
            Route("/weeks/{week}/lab/{file}", self.open_lab),
            Route("/weeks/{week}/solution/{task}", self.solution),
            Route("/weeks/{week}/tasks/{task}/{action}", self.act, methods=["POST"]),
        ]
        handlers: Any = {KitError: self.failed, HTTPException: self.failed}
        mounted = [Mount(f"/{self.learner.key}", routes=routes)]
        app = Starlette(routes=mounted, lifespan=lifespan, exception_handlers=handlers)
        app.add_middleware(TrustedHostMiddleware, allowed_hosts=[HOST, "localhost"])
        return RequestLimits(app, max_body=lambda path: SMALL_BODY, secure=False)

    def _render(self, template: str, **values: Any) -> str:
        templates = environment("learn", "feedback", "serve")
        values |= {"course": self.learner.course, "warning": self.warning, "who": None}
        return templates.get_template(template).render(values, prefix=f"/{self.learner.key}/")

    def _page(self, template: str, status: int = 200, **values: Any) -> Response:
        return HTMLResponse(self._render(f"{template}.html.j2", **values), status)

    def failed(self, request: Request, error: Exception) -> Response:
        if isinstance(error, KitError):
            return self._page("message", 422, message=str(error))
        return Response("Open the whole address that `autograder learn` printed.\n", 404)

    def _week(self, request: Request) -> Week:
        weeks = {week.name: week for week in self.learner.course.weeks}
        if (name := request.path_params["week"]) not in weeks:
            raise HTTPException(404)
        return weeks[name]

    def home(self, request: Request) -> Response:
        weeks, current = overviews(self.learner)
        return self._page("home", weeks=weeks, current=current, folder=self.learner.path)

    def static(self, request: Request) -> Response:
        if request.path_params["name"] == "page.js":
            return Response(self._render("page.js"), media_type="text/javascript")
        parts = (self._render(name) for name in ("page.css", "style.css", "learn.css"))
        return Response("\n".join((*parts, code_styles())), media_type="text/css")

    def week(self, request: Request) -> Response:
        """Show a week: the newest results, hints, questions, and figures if it is finished."""
        week, learner, shown = self._week(request), self.learner, partial(markdown, below=3)
        folder = learner.week(week)
        learner.visit(week)
        self.grading.request(week)
        progress, missing = overview(learner, week), not folder.module.is_file()
        report = progress.record.report
        reports = {e.name: e for e in report.exercises} if report else {}
        return self._page(
            "week",
            week=week,
            progress=progress,
            record=progress.record,
            live=self.grading.weeks[week.name],
            folder=folder.path,
            missing=missing,
            copies=folder.copies() if missing else folder.newer_copies(),
            lab=self.lab,
            exercises=[
                (e, view_exercise(reports.get(e.name) or ungraded(e), e.points))
                for e in week.exercises
            ],
            hints={name: hints_to_show(folder, name, again=True)[0] for name in folder.names},
            all_hints={name: hints_of(folder, name) for name in folder.names},
            answers={name: shown(text) for name, text in learner.answers(week).items()},
            guides=marking_guides(learner.course, week),
            score=lambda guide: question_score(guide, progress.record),
            shown=shown,
            figures=[] if progress.next else own_figures(learner, week),
        )

    async def wait(self, request: Request) -> Response:
        """Answer when the week's page has to be rendered again, or after `_WAIT_SECONDS`."""
        week, seen = self._week(request), request.query_params.get("seen", "")
        version = await self.grading.changed(week, seen, _WAIT_SECONDS, self.stopping)
        return JSONResponse({"version": version})

    async def open_lab(self, request: Request) -> Response:
        """Redirect to JupyterLab, which opens the notebook or the module of a week."""
        week, file = self._week(request), request.path_params["file"]
        if self.lab is None or file not in (week.module, f"{week.name}.ipynb"):
            raise HTTPException(404)
        return RedirectResponse(await self.lab.address(f"{week.name}/{file}"), 303)

    def solution(self, request: Request) -> Response:
        """Show an exercise's solution, if the exercise passed or was given up."""
        week, task = self._week(request), request.path_params["task"]
        if not self.learner.record(week).shows_solution(task):
            raise KitError("This solution opens when your exercise passes or you give it up.")
        folder, solved = self.learner.week(week), Bank(self.learner.course, week).solution
        lines = solution_lines(folder, task, without_marks(solved))
        try:
            compared = "\n".join(differences(folder, task, lines))
        except KitError as error:
            compared = str(error)
        source = code("\n".join(lines))
        return self._page("solution", week=week, task=task, source=source, compared=compared)

    async def act(self, request: Request) -> Response:
        if urlsplit(request.headers.get("origin", "")).netloc != request.headers["host"]:
            raise HTTPException(403)
        form = parse_qs((await request.body()).decode("utf-8", "replace"))
        return await run_in_threadpool(self._act, request, form.get("met", []))

    def _act(self, request: Request, met: list[str]) -> Response:
        """Perform the action of a form, such as showing a hint. `met`: the checked rubric lines."""
        week, learner = self._week(request), self.learner
        task, action = request.path_params["task"], request.path_params["action"]
        guide, anchor = marking_guides(learner.course, week).get(task), ""
        if action == "restore":
            restore_stub(learner.week(week))
        elif action == "hint":
            hints_to_show(learner.week(week), task, again=False)
            anchor = f"#exercise-{task}"
        elif guide is None:
            with learner.changing(week) as record:
                record.give_up(week.exercise(task).name)
            anchor = f"/solution/{task}"
        else:
            anchor = f"#question-{task}"
            with learner.changing(week) as record:
                if action == "give-up":
                    record.give_up(task)
                elif action == "open" and task in learner.answers(week):
                    record.opened += [] if record.shows_solution(task) else [task]
                elif action == "assess" and task in record.opened:
                    lines = range(len(guide.rubric))
                    record.met[task] = [n for n in lines if str(n) in met]
        self.grading.request(week)
        return RedirectResponse(f"/{learner.key}/weeks/{week.name}{anchor}", 303)
