"""The registry of a course of one week alone, as text: what is kept of it, or goes elsewhere."""

from __future__ import annotations

import msgspec
import yaml

from .loader import Course, Week


def one_week(course: Course, week: Week) -> str:
    """The registry of a course of this week alone, without what is not about grading."""
    alone = msgspec.structs.replace(week, files=(), folders=(), questions=(), lms=None)
    registry = msgspec.structs.replace(course.registry, weeks=(alone,), late=None)
    data = msgspec.to_builtins(registry)
    for name in ("late", "nbgrader", "canvas", "lti", "groups"):
        data.pop(name)
    data["weeks"][0]["limits"] = msgspec.to_builtins(course.limits(week))
    return yaml.safe_dump(_without_none(data), sort_keys=False, allow_unicode=True)


def _without_none(data: object) -> object:
    if isinstance(data, dict):
        return {key: _without_none(value) for key, value in data.items() if value is not None}
    return [_without_none(value) for value in data] if isinstance(data, list) else data
