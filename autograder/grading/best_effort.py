"""What is looked for behind the verdicts: they stand without it.

No answer of a submission may take its grade from it, whatever it provokes in the steps that name
its mistakes, find its lines or see what it inherits.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from ..sandbox import SandboxError
from .outcomes import printable
from .running.author_errors import let_go
from .targets.spawner import Spawner

Found = TypeVar("Found")


class BehindVerdicts:
    """Steps that may fail. `failed`: what went wrong in those of one submission."""

    def __init__(self, spawner: Spawner | None) -> None:
        self._spawner = spawner
        self.failed: list[str] = []

    def find(self, what: str, step: Callable[[], Found], otherwise: Found) -> Found:
        """What a step finds; one that fails has found nothing."""
        try:
            return step()
        except Exception as error:
            self.failed.append(printable(f"{what}: {type(error).__name__}: {error}"))
            let_go(error)
            if self._spawner is not None and isinstance(error, SandboxError):
                self._spawner.end()
            return otherwise
