"""Render pages from templates.

Everything is escaped, and no page contains inline scripts or styles.
"""

from __future__ import annotations

from importlib import resources
from typing import Any

from ...model.course import Course, Week
from ...pages.environment import environment
from ..auth.accounts import Person
from .view_models import SubmissionView, in_words

STATIC_TYPES = {
    "style.css": "text/css; charset=utf-8",
    "page.js": "text/javascript; charset=utf-8",
}


def render_page(name: str, prefix: str, who: Person | None, course: Course, **values: Any) -> str:
    template = environment("serve").get_template(f"{name}.html.j2")
    return template.render(prefix=prefix, who=who, course=course, **values)


def static_file(name: str) -> bytes:
    """Return the style sheet or the script of all pages."""
    own = resources.files("autograder.serve") / "templates" / name
    if name == "style.css":
        shared = environment("serve").get_template("page.css").render()
        return f"{shared}\n{own.read_text(encoding='utf-8')}".encode()
    return own.read_bytes()


def exchange_page(course: Course, week: Week, view: SubmissionView) -> str:
    """Return the first result for `nbgrader fetch_feedback`: one file without scripts."""
    return (
        environment("serve")
        .get_template("exchange.html.j2")
        .render(
            course=course,
            week=week,
            submission=view,
            style=static_file("style.css").decode(),
            due=in_words(course.localized(week.due)),
        )
    )
