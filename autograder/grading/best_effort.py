"""Optional steps after grading: diagnosis, fault localization, error carried forward.

A submission may trigger a bug in these steps. An exception is recorded and never changes a verdict.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from ..sandbox import SandboxError
from .outcomes import clear_frames, printable
from .targets.spawner import Spawner

Result = TypeVar("Result")


class BestEffort:
    """Runs optional steps and collects their errors in `failures`."""

    def __init__(self, spawner: Spawner | None) -> None:
        self._spawner = spawner
        self.failures: list[str] = []

    def run(self, description: str, step: Callable[[], Result], default: Result) -> Result:
        """Return the step's result, or `default` if it raises; record the error."""
        try:
            return step()
        except Exception as error:
            self.failures.append(printable(f"{description}: {type(error).__name__}: {error}"))
            clear_frames(error)
            if self._spawner is not None and isinstance(error, SandboxError):
                self._spawner.end()
            return default
