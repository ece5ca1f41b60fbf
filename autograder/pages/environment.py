"""What all our HTML pages share: one environment of templates, and the words' way onto a page.

Everything is escaped by the templates (autoescape, no `safe` filter; a test greps for it).
"""

from __future__ import annotations

from functools import cache
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from ..model.quoting import with_quotations
from ..model.visible import replaced


@cache
def environment(room: str) -> Environment:
    """The templates of one room of the kit, beside those that all pages share."""
    environment = Environment(
        loader=ChoiceLoader([PackageLoader(f"autograder.{room}"), PackageLoader(__package__)]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        prose=prose,
        points=points,
        lowered=lowered,
        percent=percent,
        wrapping=wrapping,
        visible=replaced,
        notice=notice,
    )
    return environment


def prose(text: Any) -> Markup:
    """Text with quotations marked up; everything in it escaped, control characters shown as �."""
    return Markup(with_quotations(replaced(text), _escaped, _code))  # both of which escape


def _escaped(text: str) -> str:
    return str(escape(text))


def _code(text: str) -> str:
    return f"<code>{escape(text)}</code>"


def notice(message: str) -> Markup:
    """A report's message: a sentence, and the source line with a caret if there is one."""
    sentence, _, code = message.partition("\n")
    below = Markup("<pre>{}</pre>").format(replaced(code)) if code else ""
    return Markup("<p>{}</p>{}").format(prose(sentence), below)


def wrapping(name: str) -> Markup:
    """A long name that may break after its underscores, on a phone."""
    return Markup(str(escape(name)).replace("_", "_<wbr>"))  # escaped just above


def points(value: float) -> str:
    """Points as they were given: the grader has rounded them."""
    return f"{value:.4f}".rstrip("0").rstrip(".")


def percent(share: float) -> str:
    return f"{100 * share:.0f}%"


def lowered(title: str) -> str:
    """`Divides by d.` as the end of "It looks as if your code …"."""
    return title[:1].lower() + title[1:]
