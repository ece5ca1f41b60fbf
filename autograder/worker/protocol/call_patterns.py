"""Compare the name of a call with patterns, in the same way in grading and in `check`."""

from __future__ import annotations

import fnmatch
import re
from functools import cache, lru_cache

# NumPy's ufuncs that do the work of an exercise
UFUNCS = ("logaddexp", "logaddexp2")
_NEVER = "(?!)"  # an empty expression would match every name


@lru_cache(maxsize=4096)
def matches(name: str, patterns: tuple[str, ...]) -> bool:
    """Return True if a call's base name, with or without its prefixes, matches a pattern."""
    expression = any_of(patterns)
    return any(expression.match(n) for n in {name, plain(name)})


@cache
def any_of(patterns: tuple[str, ...]) -> re.Pattern[str]:
    """Compile patterns into one expression, because thousands of names are matched at start-up."""
    return re.compile("|".join(map(fnmatch.translate, patterns)) or _NEVER)


def plain(name: str) -> str:
    """Return a call's base name without underscores and prefixes of torch's variants."""
    return name.rstrip("_").lstrip("_").removeprefix("special_").removeprefix("safe_")
