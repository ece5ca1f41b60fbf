"""How a call's name is held against a rule: one way inside the sandbox, outside, and at home."""

from __future__ import annotations

import fnmatch
import re
from functools import cache, lru_cache

# of numpy, those that could do an exercise in one call
UFUNCS = ("logaddexp", "logaddexp2")
_NEVER = "(?!)"  # an empty expression would match every name


@lru_cache(maxsize=4096)
def matches(name: str, patterns: tuple[str, ...]) -> bool:
    """Return whether a call's base name matches a rule, as it is or without what adorns it."""
    expression = any_of(patterns)
    return any(expression.match(n) for n in {name, plain(name)})


@cache
def any_of(patterns: tuple[str, ...]) -> re.Pattern[str]:
    """Compile patterns into one expression, because thousands of names are matched at start-up."""
    return re.compile("|".join(map(fnmatch.translate, patterns)) or _NEVER)


def plain(name: str) -> str:
    """A call's base name without what adorns it."""
    return name.rstrip("_").lstrip("_").removeprefix("special_").removeprefix("safe_")
