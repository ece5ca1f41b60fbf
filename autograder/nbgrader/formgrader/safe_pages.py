"""Protect Formgrader's pages against scripts in submissions.

Notebooks, submitted files and names are not trusted. The instructor is logged in to Jupyter, which
can run any program, so a single script in a page could take over the account. nbgrader's pages have
no Content-Security-Policy, print names unescaped, and serve submitted files as pages of the same
origin. So every handler of Formgrader, except for static files, is replaced by a subclass:

- Pages have a Content-Security-Policy. Only the scripts of the templates run, because only they get
  the nonce of the response. Styles, fonts and data come only from this server, and pictures only
  from data: URLs. Pages submit no forms and open no frames.
- Templates escape all values.
- The page of a submission is rendered by the kit (submitted_cells.py, templates/marking.html.j2),
  with the marking guide of each question.
- Manual marks are copied to `.autograder/marks/` after each change (manual_marks.py).
- Submitted files and responses of the API are inert when they are opened as pages.
- Formgrader opens only the courses of this server. nbgrader would run the configuration of any
  folder in a link `/formgrader?path=…`, and a submission could contain configuration.

`configure` calls `install` in every Jupyter server that reads the course's settings.
"""

import re
import secrets
from collections.abc import Callable
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import nbformat
from jinja2 import BaseLoader, ChoiceLoader, Environment, FileSystemLoader, PackageLoader
from jupyter_server.base.handlers import JupyterHandler
from nbgrader.server_extensions.formgrader import apihandlers, handlers
from nbgrader.server_extensions.formgrader.base import BaseApiHandler, BaseHandler
from tornado.routing import URLSpec

from ...authoring.lesson.marking_guide import MarkingGuide, marking_guides
from ...model.course import load
from ...model.errors import KitError
from ...pages.environment import points
from ...pages.markdown import code_styles, markdown
from .manual_marks import keep_marks
from .submitted_cells import rendered_cells

_INSTALLED = "autograder_courses"
_SCRIPT, _ONCLICK = re.compile(r"<script\b"), re.compile(r"\bonclick=")
_NONCE = '<script nonce="{{ resources.nonce if resources is defined else nonce }}"'
_ONCLICK_JS = "{% include 'pressed.js' %}"
_OTHER_FOLDER = (
    "Formgrader runs the settings of a folder as a program, so it opens only the course that this "
    "server was started in. To open another course, start a server in its folder."
)
_INERT = "default-src 'none'; sandbox; frame-ancestors 'none'"


def install(web_app: Any, course_folder: Path, project: Path) -> None:
    """Register a course. The first call in a server adds the handlers before Formgrader's.

    course_folder: nbgrader's workspace. project: folder that contains course.yaml.
    """
    courses: dict[Path, Path] = web_app.settings.setdefault(_INSTALLED, {})
    if not courses:
        prefix = web_app.settings["base_url"].rstrip("/")
        theirs: list[Any] = [*handlers.default_handlers, *apihandlers.default_handlers]
        rules = [
            web_app.default_router.process_rule(URLSpec(prefix + pattern, ours, *rest))
            for pattern, handler, *rest in theirs
            if (ours := guarded(handler)) is not None
        ]
        web_app.default_router.rules[:0] = rules
    courses[course_folder.resolve()] = project


def guarded(handler: type[Any]) -> type[Any] | None:
    """Return a subclass to replace one of Formgrader's handlers, or None for static files."""
    replacements: dict[type[Any], type[Any]] = {
        BaseApiHandler: MarkingApi,
        handlers.SubmissionFilesHandler: InertResponse,
        handlers.FormgraderHandler: CourseOnly,
        handlers.SubmissionHandler: SubmissionPage,
        BaseHandler: GuardedPage,
    }
    found = (ours for base, ours in replacements.items() if issubclass(handler, base))
    ours = next(found, None)
    return ours and type(f"{ours.__name__}{handler.__name__}", (ours, handler), {})


class InertResponse(JupyterHandler):
    """A response that runs no scripts and has an opaque origin when it is opened as a page."""

    @property
    def content_security_policy(self) -> str:
        return _INERT


class MarkingApi(InertResponse):
    """Formgrader's API. Copies manual marks (`keep_marks`) after each successful change."""

    def on_finish(self) -> None:
        super().on_finish()
        if self.request.method not in ("PUT", "POST") or self.get_status() >= 400:
            return
        for project in self.settings[_INSTALLED].values():
            try:
                keep_marks(load(project))
            except (KitError, OSError) as error:
                self.log.error("manual marks were not copied: %s", error)


class GuardedPage(BaseHandler):
    """A page of Formgrader with a Content-Security-Policy and escaped values."""

    @cached_property
    def nonce(self) -> str:
        return secrets.token_urlsafe(18)

    @property
    def content_security_policy(self) -> str:
        return (
            f"default-src 'none'; script-src 'nonce-{self.nonce}'; "
            "style-src 'self' 'unsafe-inline'; img-src data:; font-src 'self'; "
            "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
        )

    def render(self, name: str, **ns: Any) -> str:  # type: ignore[override]  # Jupyter allows any
        ns.setdefault("nonce", self.nonce)
        if "resources" in ns:
            ns["resources"]["nonce"] = self.nonce
        return environment().get_template(name).render(**ns)


class SubmissionPage(GuardedPage):
    """The page for marking a submission."""

    @property
    def exporter(self) -> Any:
        """Return this page, because nbgrader's handler calls `exporter.from_filename`."""
        return self

    def from_filename(self, filename: str, resources: dict[str, Any]) -> tuple[str, None]:
        coursedir = self.coursedir
        week = coursedir.format_path(coursedir.release_directory, ".", resources["assignment_id"])
        notebook = nbformat.read(filename, as_version=4)
        cells = rendered_cells(notebook.cells, Path(week) / "figures")
        project = self.settings[_INSTALLED].get(Path(coursedir.root).resolve())
        page = self.render(
            "marking.html.j2",
            resources=resources,
            cells=cells,
            guides=guides_of(project, resources["assignment_id"]) if project else {},
            highlighting=code_styles(),
        )
        return page, None


def guides_of(project: Path, week: str) -> dict[str, MarkingGuide]:
    """Return a week's marking guides by cell, or {} if the course cannot be loaded."""
    try:
        course = load(project)
        return marking_guides(course, course.week(week))
    except KitError:
        return {}  # course.yaml may be invalid while the instructor edits it


class CourseOnly(GuardedPage):
    """Formgrader's entry page, which opens only the folders of this server's courses."""

    def prepare(self, **named: Any) -> Any:
        path = self.get_argument("path", "")
        known: dict[Path, Path] = self.settings[_INSTALLED]
        if path and Path(path).resolve() not in known:
            self.set_status(403)
            self.set_header("Content-Type", "text/plain; charset=utf-8")
            self.finish(_OTHER_FOLDER)
            return None
        return super().prepare(**named)


class _Nonced(BaseLoader):
    """Loads nbgrader's templates with a nonce in scripts and without `onclick` attributes.

    A template is rewritten before it is rendered, so inserted values never get a nonce.
    """

    def __init__(self, *folders: str) -> None:
        self._files = FileSystemLoader(folders)

    def get_source(
        self, environment: Environment, template: str
    ) -> tuple[str, str | None, Callable[[], bool] | None]:
        known = "formgrade_macros.html.j2" if template == "formgrade_macros.tpl" else template
        source, path, fresh = self._files.get_source(environment, known)
        if _ONCLICK.search(source):
            handled = f"<script>{_ONCLICK_JS}</script>"
            source = _ONCLICK.sub("data-pressed=", source)
            source = _SCRIPT.sub(lambda _: handled + "<script", source, count=1)
        return _SCRIPT.sub(lambda _: _NONCE, source), path, fresh


@cache
def environment() -> Environment:
    """Return a Jinja environment that escapes values, for the kit's and nbgrader's templates."""
    theirs = handlers.template_path
    loaders = [PackageLoader("autograder.nbgrader"), _Nonced(theirs, f"{theirs}/formgrade")]
    templates = Environment(
        loader=ChoiceLoader(loaders), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    templates.filters.update(points=points, markdown=markdown)
    return templates
