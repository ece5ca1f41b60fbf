"""Quote untrusted text in messages between backticks that the text cannot close.

Messages mark code as Markdown does: a run of backticks opens a quotation, and a run of the same
length closes it. A quotation gets a longer run than any in its text.
"""

from __future__ import annotations

import re
from collections.abc import Callable

_RUN = re.compile("`+")
_QUOTATION = re.compile(r"(?<!`)(`+)(?!`)([^\n]+?)(?<!`)\1(?!`)")


def quoted(text: str) -> str:
    """Return the text as a quotation, on one line."""
    line = " ".join(text.splitlines())
    fence = "`" * (1 + max(map(len, _RUN.findall(line)), default=0))
    space = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{fence}{space}{line}{space}{fence}"


def with_quotations(text: str, plain: Callable[[str], str], code: Callable[[str], str]) -> str:
    """Return the text with `code` applied to its quotations and `plain` to the rest."""
    parts, at = [], 0
    for found in _QUOTATION.finditer(text):
        said = found[2]
        if said[0] == said[-1] == " " and said.strip():
            said = said[1:-1]
        parts += [plain(text[at : found.start()]), code(said)]
        at = found.end()
    return "".join([*parts, plain(text[at:])])
