"""Write course.yaml for a single week, for archives and for graders on other platforms."""

from __future__ import annotations

import msgspec
import yaml

from .registry import Course, Week


def one_week(course: Course, week: Week) -> str:
    """Return the registry as YAML with this week only and without settings unrelated to grading."""
    alone = msgspec.structs.replace(week, files=(), folders=(), questions=(), lms=None)
    registry = msgspec.structs.replace(course.registry, weeks=(alone,), late=None)
    data = msgspec.to_builtins(registry)
    for name in ("late", "nbgrader", "canvas", "lti"):
        data.pop(name, None)
    data["weeks"][0]["limits"] = msgspec.to_builtins(course.limits(week))
    return yaml.safe_dump(data, sort_keys=False, allow_unicode=True)
