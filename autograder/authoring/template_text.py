"""Render the templates of new weeks, released notebooks and pages."""

from __future__ import annotations

from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined


def fill_template(template: str, values: dict[str, Any]) -> str:
    """Return the text of a file in `authoring/templates` with its placeholders replaced."""
    environment = Environment(
        loader=PackageLoader("autograder.authoring"),
        undefined=StrictUndefined,
        keep_trailing_newline=True,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,  # Python and Markdown, from validated names
    )
    return environment.get_template(template).render(values)
