"""How a call's name is held against a rule: one way inside the sandbox, outside, and at home."""

from __future__ import annotations

import fnmatch
from functools import lru_cache

# of numpy, those that could do an exercise in one call
UFUNCS = ("logaddexp", "logaddexp2")


@lru_cache(maxsize=4096)
def matches(name: str, patterns: tuple[str, ...]) -> bool:
    """Whether a call's base name matches a rule, whatever underscores or `special_` adorn it."""
    base = name.rstrip("_").lstrip("_").removeprefix("special_").removeprefix("safe_")
    return any(fnmatch.fnmatchcase(base, pattern) for pattern in patterns)
