"""How a call's name is held against a rule: one way inside the sandbox, outside, and at home."""

from __future__ import annotations

import fnmatch
from functools import lru_cache

# of numpy, those that could do an exercise in one call
UFUNCS = ("logaddexp", "logaddexp2")


@lru_cache(maxsize=4096)
def matches(name: str, patterns: tuple[str, ...]) -> bool:
    """Return whether a call's base name matches a rule, as it is or without what adorns it."""
    names = {name, plain(name)}
    return any(fnmatch.fnmatchcase(n, pattern) for pattern in patterns for n in names)


def plain(name: str) -> str:
    """A call's base name without what adorns it."""
    return name.rstrip("_").lstrip("_").removeprefix("special_").removeprefix("safe_")
