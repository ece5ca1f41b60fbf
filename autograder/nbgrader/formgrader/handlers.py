"""Formgrader's pages, shown so that nothing a student wrote can act in the instructor's browser.

Theory of operation. Who may be lying: whoever wrote a notebook, a file beside it, a name. Their
reader is logged in to Jupyter, which runs anything for him, so one script in one of these pages is
the end of it. nbgrader's pages send no policy, print names unescaped, and hand out submitted files
as pages of the same origin. So every handler of Formgrader gets a subclass that goes before it:

- pages carry a Content-Security-Policy. Only scripts with this answer's nonce run: those of
  nbgrader's own templates, which get it while the templates are read. No event handler in markup,
  no `javascript:` link, no other script runs, whatever a sanitizer let through; nothing is loaded
  from elsewhere, no form is sent, no frame is opened;
- templates escape what they are given;
- the page of a submission is ours (`shown`, templates/marking.html.j2), sanitized; below an answer
  it shows how the question is marked (`authoring.answers`), folded;
- marks that are given here are kept beside the gradebook at once (handmarks.py);
- a submitted file and an answer of the API are inert where they are opened as a page;
- Formgrader changes to no other folder. nbgrader reads the configuration of whatever folder a link
  names (`/formgrader?path=…`), and configuration is a program: a submission could hold one.

It is installed by `configure`, so it is there wherever a server reads the course's settings.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import nbformat
from jinja2 import BaseLoader, ChoiceLoader, Environment, FileSystemLoader, PackageLoader
from jupyter_server.base.handlers import JupyterHandler
from markupsafe import Markup
from nbgrader.server_extensions.formgrader import apihandlers, handlers
from nbgrader.server_extensions.formgrader.base import BaseApiHandler, BaseHandler
from tornado.routing import URLSpec

from ...authoring.lesson.marking_guide import MarkingGuide, marking_guides
from ...model.course.loader import load
from ...model.errors import KitError
from ...pages.environment import points
from ...pages.markdown import code_styles, markdown
from .manual_marks import keep_marks
from .submitted_cells import shown_cells

_INSTALLED = "autograder_courses"
_SCRIPT, _PRESSED = re.compile(r"<script\b"), re.compile(r"\bonclick=")
_NONCE = '<script nonce="{{ resources.nonce if resources is defined else nonce }}"'
_PRESSED_JS = "{% include 'pressed.js' %}"
_OTHER_FOLDER = (
    "Formgrader reads the settings of a folder as a program. So it opens the course that this "
    "server was started in and no other folder: start a server in that one."
)
_INERT = "default-src 'none'; sandbox; frame-ancestors 'none'"


def install(web_app: Any, course_folder: Path, project: Path) -> None:
    """Put our handlers before Formgrader's, once per server, and make a course known to them.

    course_folder: where nbgrader works; project: the folder of course.yaml.
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


def guarded(theirs: type[Any]) -> type[Any] | None:
    """The subclass that goes before a handler of Formgrader; None if it hands out scripts."""
    if not issubclass(theirs, BaseHandler):
        return None
    ours: type[Any] = GuardedPage
    if issubclass(theirs, BaseApiHandler):
        ours = KeepingAnswer
    elif issubclass(theirs, handlers.SubmissionFilesHandler):
        ours = InertAnswer
    elif issubclass(theirs, handlers.FormgraderHandler):
        ours = CourseOnly
    elif issubclass(theirs, handlers.SubmissionHandler):
        ours = SubmissionPage
    return type(f"{ours.__name__}{theirs.__name__}", (ours, theirs), {})


class InertAnswer(JupyterHandler):
    """What is not a page: opened as one, it runs nothing and belongs to no origin."""

    @property
    def content_security_policy(self) -> str:
        return _INERT


class KeepingAnswer(InertAnswer):
    """An answer of Formgrader's API; the marks that were written are kept beside the gradebook."""

    def on_finish(self) -> None:
        super().on_finish()
        if self.request.method not in ("PUT", "POST") or self.get_status() >= 400:
            return
        for project in self.settings[_INSTALLED].values():
            try:
                keep_marks(load(project))
            except (KitError, OSError) as error:
                self.log.error("marks were not kept beside the gradebook: %s", error)


class GuardedPage(BaseHandler):
    """A page of Formgrader with a policy and escaped names."""

    @cached_property
    def nonce(self) -> str:
        return secrets.token_urlsafe(18)

    @property
    def content_security_policy(self) -> str:
        return "; ".join(
            (
                "default-src 'none'",
                f"script-src 'nonce-{self.nonce}'",
                "style-src 'self' 'unsafe-inline'",
                "img-src data:",
                "font-src 'self'",
                "connect-src 'self'",
                "base-uri 'none'",
                "form-action 'none'",
                "frame-ancestors 'self'",
            )
        )

    def render(self, name: str, **ns: Any) -> str:  # type: ignore[override]  # Jupyter's takes anything
        ns.setdefault("nonce", self.nonce)
        if "resources" in ns:
            ns["resources"]["nonce"] = self.nonce
        return environment().get_template(name).render(**ns)


class SubmissionPage(GuardedPage):
    """The page on which a submission is marked."""

    @property
    def exporter(self) -> Any:
        """What nbgrader's handler asks for a notebook's page."""
        return self

    def from_filename(self, filename: str, resources: dict[str, Any]) -> tuple[str, None]:
        coursedir = self.coursedir
        week = coursedir.format_path(coursedir.release_directory, ".", resources["assignment_id"])
        cells = shown_cells(nbformat.read(filename, as_version=4), Path(week) / "figures")
        project = self.settings[_INSTALLED].get(Path(coursedir.root).resolve())
        page = self.render(
            "marking.html.j2",
            resources=resources,
            cells=cells,
            guides=shown_guides(project, resources["assignment_id"]) if project else {},
            highlighting=code_styles(),
        )
        return page, None


def shown_guides(project: Path, week: str) -> dict[str, ShownGuide]:
    """How the written questions of a week are marked, by the name of their cell."""
    try:
        course = load(project)
        guides = marking_guides(course, course.week(week))
    except KitError:
        return {}  # marking goes on while course.yaml is being edited
    return {name: _shown(guide) for name, guide in guides.items()}


@dataclass(frozen=True)
class ShownGuide:
    """A marking guide as HTML; of a comment also the text that goes into the field."""

    model_answer: Markup
    rubric: tuple[tuple[float, Markup], ...]
    wrong_answers: tuple[tuple[Markup, Markup, str], ...]


def _shown(guide: MarkingGuide) -> ShownGuide:
    return ShownGuide(
        markdown(guide.model_answer, below=4),
        tuple((line.points, markdown(line.earned_by)) for line in guide.rubric),
        tuple((markdown(w.answer), markdown(w.comment), w.comment) for w in guide.wrong_answers),
    )


class CourseOnly(GuardedPage):
    """Formgrader's door: it opens on the folders of this server's courses, and on no other."""

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
    """nbgrader's own templates, whose scripts get the nonce and whose buttons name what they do.

    The text of a template is rewritten before anything of a student's is filled in.
    """

    def __init__(self, *folders: str) -> None:
        self._files = FileSystemLoader(folders)

    def get_source(
        self, environment: Environment, template: str
    ) -> tuple[str, str | None, Callable[[], bool] | None]:
        known = "formgrade_macros.html.j2" if template == "formgrade_macros.tpl" else template
        source, path, fresh = self._files.get_source(environment, known)
        if _PRESSED.search(source):
            handled = f"<script>{_PRESSED_JS}</script>"
            source = _PRESSED.sub("data-pressed=", source)
            # before the first script, in a place that the page shows
            source = _SCRIPT.sub(lambda _: handled + "<script", source, count=1)
        return _SCRIPT.sub(lambda _: _NONCE, source), path, fresh


_environments: list[Environment] = []


def environment() -> Environment:
    """Our templates and nbgrader's, all of them escaping."""
    if not _environments:
        theirs = handlers.template_path
        loaders = [
            PackageLoader("autograder.nbgrader"),
            _Nonced(theirs, f"{theirs}/formgrade"),
        ]
        made = Environment(
            loader=ChoiceLoader(loaders), autoescape=True, trim_blocks=True, lstrip_blocks=True
        )
        made.filters["points"] = points
        _environments.append(made)
    return _environments[0]
