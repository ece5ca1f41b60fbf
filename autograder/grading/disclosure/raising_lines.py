"""The lines of a module at which Python can raise an error.

A submission can make an error claim any line: it can set `SyntaxError.lineno`, or give a code
object a different first line. So a line reported by a submission's process is shown only if it
contains syntax that can raise, unlike blank lines, comments and constants.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache

from ...repair.source_text import UNPARSABLE, parsed


@lru_cache(maxsize=8)
def raising_lines(source: tuple[str, ...]) -> frozenset[int]:
    """Return the lines that can raise: only the error's line if the file has a syntax error."""
    try:
        return frozenset(_lines(parsed("\n".join(source)).tree))
    except SyntaxError as error:
        return frozenset([error.lineno] if error.lineno else [])
    except UNPARSABLE:
        return frozenset()


def _lines(tree: ast.Module) -> Iterator[int]:
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt):
            is_docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
            if not (isinstance(node, ast.Pass) or is_docstring):
                yield node.lineno
        elif isinstance(node, ast.expr) and not isinstance(node, ast.Constant):
            yield node.lineno
            if isinstance(node, ast.Attribute) and node.end_lineno:
                yield node.end_lineno  # Python reports this line for a call in a method chain
