"""Code that a hidden test brings along: a stand-in for another exercise, or a probe.

A test of a module that takes a cache must not depend on the student's own cache. So it brings one,
as the source of a small module: the trusted side sends it, and it runs here like everything else,
beside the submission, whose module it calls `submission`. It is no secret from the submission, and
whatever it reports is, like all that is said here, the submission's word.
"""

from __future__ import annotations

import types
from functools import lru_cache

_NAME = "brought by the grader"


@lru_cache(maxsize=8)
def module_of(source: str) -> types.ModuleType:
    """The module that this source makes; the same source gives the same module."""
    module = types.ModuleType(_NAME)
    code = compile(source, f"<{_NAME}>", "exec", dont_inherit=True)  # dataclasses read annotations
    exec(code, module.__dict__)
    return module


def is_brought(kind: type) -> bool:
    """Whether a class was defined by brought code, so that its objects may stay in the worker."""
    return kind.__module__ == _NAME
