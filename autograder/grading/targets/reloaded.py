"""Run one version of a submission after another, and measure their processor time."""

import time
from collections.abc import Callable, Mapping

from .in_process import Target
from .sandboxed import Sandboxed


class Reloaded:
    """The version of a submission that was loaded last.

    start: starts a target with a submission's files, which later versions reuse in a sandbox
    """

    def __init__(self, start: Callable[[Mapping[str, bytes]], Target]) -> None:
        self._start = start
        self._target: Target | None = None
        self._began = time.thread_time()

    def load(self, files: Mapping[str, bytes]) -> Target:
        """Load a version that remembers no earlier call. If its import fails, calls fail."""
        if isinstance(self._target, Sandboxed):
            self._target.swap(files)  # in the same process, which is much faster
            return self._target
        self.close()
        self._target = self._start(files)
        return self._target

    def exclude(self, seconds: float) -> None:
        """Do not charge these seconds, which were spent on results that all submissions share."""
        self._began += seconds

    def seconds(self) -> float:
        """Return the processor time spent so far, in this process and in the sandbox."""
        inside = self._target.clocks.used_seconds() if isinstance(self._target, Sandboxed) else 0.0
        return time.thread_time() - self._began + inside

    def work(self) -> float:
        """Return the work of the sandbox; in this process, where none is counted, the time."""
        return self._target.clocks.work if isinstance(self._target, Sandboxed) else self.seconds()

    def close(self) -> None:
        if self._target is not None:
            self._target.close()
