"""Run a module that a hidden test supplies: a stand-in for another exercise, or a probe.

A test of a module that takes a cache must not depend on the student's cache, so it supplies one
as the source of a small module. That module runs here, next to the submission, which it finds as
`submission`. It is not secret, and the submission may falsify what it returns.
"""

from __future__ import annotations

import types
from functools import lru_cache

_NAME = "brought by the grader"


@lru_cache(maxsize=8)
def module_of(source: str) -> types.ModuleType:
    """Run a source and return its module, which is cached by the source."""
    module = types.ModuleType(_NAME)
    code = compile(source, f"<{_NAME}>", "exec", dont_inherit=True)  # dataclasses read annotations
    exec(code, module.__dict__)
    return module


def is_injected(kind: type) -> bool:
    """Return True if an injected module defines the class, so that objects stay in the worker."""
    return kind.__module__ == _NAME
