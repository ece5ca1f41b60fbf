"""Pages from templates. Everything is escaped; no page holds a script or a style of its own."""

from __future__ import annotations

from importlib import resources
from typing import Any

from ...model.course.loader import Course, Week
from ...pages.environment import environment
from ..auth.accounts import Person
from .view_models import TryView, in_words

STATIC = {
    "style.css": "text/css; charset=utf-8",
    "page.js": "text/javascript; charset=utf-8",
}


def page(name: str, prefix: str, who: Person | None, course: Course, **values: Any) -> str:
    """One page of the service."""
    template = environment("serve").get_template(f"{name}.html.j2")
    return template.render(prefix=prefix, who=who, course=course, **values)


def static(name: str) -> bytes:
    """A style or script that pages refer to."""
    own = resources.files("autograder.serve") / "templates" / name
    if name == "style.css":
        shared = environment("serve").get_template("page.css").render()
        return f"{shared}\n{own.read_text(encoding='utf-8')}".encode()
    return own.read_bytes()


def exchange_page(course: Course, week: Week, view: TryView) -> str:
    """Return what a student fetches by nbgrader before feedback: one file, without scripts."""
    template = environment("serve").get_template("exchange.html.j2")
    return template.render(
        course=course,
        week=week,
        one=view,
        style=static("style.css").decode(),
        due=in_words(course.localized(week.due)),
    )
