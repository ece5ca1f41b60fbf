"""Detect forbidden calls while the public checks run, under any alias.

The rules in `folder/slips.py` find plain calls in the source. They miss aliases such as
`act = nn.Softmax(-1)` at the top of a module, and names assembled at run time. This module uses the
grader's hooks (`worker/monitor/function_hooks.py`) for Python functions of libraries, NumPy's
ufuncs, and torch's public functions. A dispatch mode also reports the operators that torch runs,
including those of compiled programs. The grader replaces the kernels of operators instead, which
is too slow for a check.

A call is attributed to the student if the innermost frame in the week's folder does not belong to
the checks, which may call any function. Calls during an import are allowed, as in grading.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ...model.source.rules import call_in_words
from ...worker.monitor.function_hooks import function_mode, matches
from ..folder.source import binding_line
from ..folder.week import WeekFolder
from .check_results import Failure


class CallNotice:
    """A detector of forbidden calls. `failure`: the first forbidden call of the current check."""

    def __init__(self, folder: WeekFolder) -> None:
        self._folder, self._checks = folder.path, str(folder.checks)
        self._patterns: tuple[str, ...] = ()
        self.failure: Failure | None = None

    @contextmanager
    def watching(self, patterns: tuple[str, ...]) -> Iterator[None]:
        """Detect calls that match the patterns; watch torch only if it has been imported."""
        self._patterns, self.failure = patterns, None
        try:
            if patterns and "torch" in sys.modules:
                with function_mode(self.note), _dispatch_mode(self.note):
                    yield
            else:
                yield
        finally:
            self._patterns = ()

    def note(self, name: str, composed: bool = False) -> None:
        """Record a call of `name` if it matches a pattern and the student's code makes the call."""
        if self.failure is None and matches(name, self._patterns):
            line = self._line()
            if line is not None:
                name = name.strip("_")
                self.failure = Failure("forbidden", call_in_words(name), name[:60], line=line)

    def _line(self) -> int | None:
        """Return the line of the student's code that makes the call.

        Return None if a public check or a module that is being imported makes the call.
        """
        found: int | None = None
        frame: Any = sys._getframe(2)
        while frame is not None:
            code, file = frame.f_code, frame.f_code.co_filename
            if file == self._checks:
                break
            if Path(file).is_relative_to(self._folder) and "site-packages" not in file:
                if code.co_name == "<module>":  # during an import
                    return None
                found = found or int(frame.f_lineno)
            frame = frame.f_back
        return found


def give_frames(folder: WeekFolder) -> None:
    """Wrap exercises that are objects of a library, such as `softmax = partial(F.softmax)`.

    Calls of such an object have no frame in the student's module. The wrapper's frame is at the
    line of the assignment, so that forbidden calls and errors are reported there.
    """
    module, source = sys.modules[folder.stem], folder.source()
    for name in folder.names:
        value = getattr(module, name, None)
        file = getattr(getattr(value, "__code__", None), "co_filename", "")
        if callable(value) and not isinstance(value, type) and file != str(folder.module):
            text = "\n" * (binding_line(source, name) - 1)
            text += "def exercise(*args, **kwargs): return library_object(*args, **kwargs)"
            names = {"library_object": value}
            exec(compile(text, str(folder.module), "exec"), names)
            setattr(module, name, names["exercise"])


def _dispatch_mode(note: Callable[[str], None]) -> Any:
    from torch.utils._python_dispatch import TorchDispatchMode  # torch is loaded at this point

    class OperatorMode(TorchDispatchMode):
        def __torch_dispatch__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            note(getattr(getattr(func, "overloadpacket", func), "__name__", ""))
            return func(*args, **(kwargs or {}))

        @classmethod
        def _should_skip_dynamo(cls) -> bool:
            """Prevent torch from importing its compiler."""
            return False

    return OperatorMode()  # type: ignore[no-untyped-call]  # torch's own
