"""Optional libraries that some exercises need."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable
from functools import cache

EXTRAS = {
    "cluster": ("distributed",),
    "keras": ("keras",),
    "text": ("transformers", "tokenizers"),
    "triton": ("triton",),
}


@cache
def installed(extra: str) -> bool:
    """Return True if the libraries of an extra of pyproject.toml are installed."""
    modules = EXTRAS.get(extra, (extra,))
    return all(importlib.util.find_spec(m) is not None for m in modules)


def is_missing(extras: Iterable[str | None], error: str, message: str) -> bool:
    """Return True if an import failed because the library of one of these extras is missing."""
    missing = (x for x in extras if x is not None and not installed(x))
    names = {name for x in missing for name in EXTRAS.get(x, (x,))}
    return error == "ModuleNotFoundError" and any(f"'{name}'" in message for name in names)


def missing_in_words(extra: str) -> str:
    """Return the message that an extra is not installed, with the command that installs it."""
    return (
        f"the extra {extra!r}, which is not installed here: "
        f"pip install {' '.join(EXTRAS.get(extra, (extra,)))}"
    )
