"""The Jinja environment for all HTML pages, and its filters."""

from functools import cache
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from ..model.message_text import best_electives, replaced, with_quotations
from ..model.submission_files import local_text


@cache
def environment(*packages: str) -> Environment:
    """Return the Jinja environment for the templates of these packages and the shared templates.

    If two packages have a template of the same name, the first package's template is used.
    """
    folders = [PackageLoader(f"autograder.{package}") for package in packages]
    environment = Environment(
        loader=ChoiceLoader([*folders, PackageLoader(__package__)]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    filters = (prose, points, lowered, percent, wrapping, notice, local_text, best_electives)
    environment.filters.update({f.__name__: f for f in filters}, visible=replaced)
    return environment


def prose(text: Any) -> Markup:
    """Escape text, render text in backticks as code, and replace control characters with �."""
    return Markup(
        with_quotations(
            replaced(text),
            lambda plain: str(escape(plain)),
            lambda code: f"<code>{escape(code)}</code>",
        )
    )  # safe: both lambdas escape their argument


def notice(message: str) -> Markup:
    """Render a report's message: a sentence, then the source line after a newline, if any."""
    sentence, _, code = message.partition("\n")
    source_line = Markup("<pre>{}</pre>").format(replaced(code)) if code else ""
    return Markup("<p>{}</p>{}").format(prose(sentence), source_line)


def wrapping(name: str) -> Markup:
    """Allow a line break after each underscore of a name."""
    return Markup(str(escape(name)).replace("_", "_<wbr>"))  # escaped first


def points(value: float) -> str:
    """Format points with up to four decimals; the grader has already rounded them."""
    return f"{value:.4f}".rstrip("0").rstrip(".")


def percent(share: float) -> str:
    return f"{100 * share:.0f}%"


def lowered(title: str) -> str:
    """Lower-case the first letter, so that the title can follow "It looks as if your code …"."""
    return title[:1].lower() + title[1:]
