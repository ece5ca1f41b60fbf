"""Noticing calls that are not allowed while the public checks run, whatever alias they go by.

The sources are read besides (`allowed.py`), but `act = nn.Softmax(-1)` at the top of a module, or
a name that is put together at run time, is no plain call. A torch function mode sees every public
function of torch by its name, as the grader's does; a dispatch mode sees the operators that run,
from compiled programs too; what torch composes in Python (references, decompositions) notes itself
(`worker/monitor/function_hooks.py`), and NumPy's ufuncs are noted by wrappers in their place.

A call is the student's if the innermost frame of the week's folder is not one of the checks, which
may compare with whatever they like. What a module calls while it is imported is its own affair, as
in the grading.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ...model.source.rules import call_in_words
from ...worker.protocol.call_patterns import UFUNCS, matches
from .results import Failure

_MOST_TRACED = 20


class CallNotice:
    """Notes the first call of one check that matches its patterns."""

    def __init__(self, folder: Path, checks: Path) -> None:
        self._folder, self._checks = str(folder), str(checks)
        self._patterns: tuple[str, ...] = ()
        self._traced: list[tuple[str, int]] = []  # while the module was imported
        self.failure: Failure | None = None

    @contextmanager
    def watching(self, patterns: tuple[str, ...]) -> Iterator[None]:
        """Notice from now on, with torch where it was imported."""
        self._patterns, self.failure = patterns, None
        for name, line in self._traced:
            self._fail(name, line)
        try:
            if patterns and "torch" in sys.modules:
                with _torch_mode(self.note), _dispatch_mode(self.note):
                    yield
            else:
                yield
        finally:
            self._patterns = ()

    def note(self, name: str, composed: bool = False) -> None:
        """Note a call by its base name, if a pattern matches and the student's code made it.

        composed: whether the library composes it of other operators
        """
        if not self._patterns and composed and len(self._traced) < _MOST_TRACED:
            line = self._line(on_import=True)
            if line is not None:
                self._traced.append((name, line))
        elif self.failure is None and matches(name, self._patterns):
            line = self._line()
            if line is not None:
                self._fail(name, line)

    def _fail(self, name: str, line: int) -> None:
        if self.failure is None and matches(name, self._patterns):
            name = name.strip("_")
            self.failure = Failure("forbidden", call_in_words(name), name[:60], line=line)

    def _line(self, on_import: bool = False) -> int | None:
        """The student's line that makes the call; None for the checks' own.

        What is called on import is nobody's unless that is asked for.
        """
        found: int | None = None
        frame: Any = sys._getframe(2)
        while frame is not None:
            code = frame.f_code
            if code.co_filename == self._checks:
                break
            if self._is_own(code.co_filename):
                if code.co_name == "<module>" and not on_import:
                    return None
                found = found or int(frame.f_lineno)
            frame = frame.f_back
        return found

    def _is_own(self, file: str) -> bool:
        return Path(file).is_relative_to(self._folder) and "site-packages" not in file


def _torch_mode(note: Callable[[str], None]) -> Any:
    from torch.overrides import TorchFunctionMode  # imported with torch

    class FunctionMode(TorchFunctionMode):
        def __torch_function__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            note(getattr(func, "__name__", ""))
            return func(*args, **(kwargs or {}))

    return FunctionMode()


def _dispatch_mode(note: Callable[[str], None]) -> Any:
    from torch.utils._python_dispatch import TorchDispatchMode  # imported with torch

    class OperatorMode(TorchDispatchMode):
        def __torch_dispatch__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            note(getattr(getattr(func, "overloadpacket", func), "__name__", ""))
            return func(*args, **(kwargs or {}))

        @classmethod
        def _should_skip_dynamo(cls) -> bool:
            """Nothing is compiled here; to skip the compiler, torch would import it first."""
            return False

    return OperatorMode()  # type: ignore[no-untyped-call]  # torch's own


class _NoticedUfunc:
    """A ufunc that notes its use, its methods included."""

    def __init__(self, ufunc: Any, note: Callable[[str], None]) -> None:
        self._ufunc, self._note = ufunc, note
        self.__name__, self.__doc__ = ufunc.__name__, ufunc.__doc__

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        self._note(self.__name__)
        return self._ufunc(*args, **kwargs)

    def __getattr__(self, attribute: str) -> Any:
        value = getattr(self._ufunc, attribute)
        if callable(value):
            self._note(self.__name__)
        return value


def note_ufuncs(patterns: tuple[str, ...], note: Callable[[str], None]) -> None:
    """Put noting ufuncs in the place of NumPy's, before the student's module takes any."""
    numpy = sys.modules.get("numpy")
    for name in UFUNCS:
        if numpy is not None and matches(name, patterns):
            setattr(numpy, name, _NoticedUfunc(getattr(numpy, name), note))
