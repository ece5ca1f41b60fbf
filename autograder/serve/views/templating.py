"""The style sheet and script of all pages, and the page for nbgrader's exchange."""

from __future__ import annotations

from importlib import resources

from ...model.course import Course, Week
from ...pages.environment import environment
from .view_models import SubmissionView, in_words

STATIC_TYPES = {
    "style.css": "text/css; charset=utf-8",
    "page.js": "text/javascript; charset=utf-8",
}


def static_file(name: str) -> bytes:
    """Return the style sheet or the script of all pages."""
    own = resources.files("autograder.serve") / "templates" / name
    if name == "style.css":
        shared = environment("serve").get_template("page.css").render()
        return f"{shared}\n{own.read_text(encoding='utf-8')}".encode()
    return own.read_bytes()


def exchange_page(course: Course, week: Week, view: SubmissionView) -> str:
    """Return the first result for `nbgrader fetch_feedback`: one file without scripts."""
    template = environment("serve").get_template("exchange.html.j2")
    style, due = static_file("style.css").decode(), in_words(course.localized(week.due))
    return template.render(course=course, week=week, submission=view, style=style, due=due)
