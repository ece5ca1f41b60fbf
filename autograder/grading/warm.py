"""An engine and its sandbox, warmed up side by side."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING

from ..model.course import Course, Week
from ..sandbox import Sandbox
from .spawner import Spawner

if TYPE_CHECKING:
    from .engine import Engine


def warm_engine(
    course: Course,
    week: Week,
    devices: tuple[str, ...],
    secret: bytes,
    sandbox: Sandbox | None,
    depends: tuple[bytes, bytes] | None = None,
) -> Engine:
    """An engine and, if submissions run in a sandbox, its template, made side by side.

    depends: hashes of what our own code's answers depend on, all of them and one run; where given,
    they are kept on disk for it.
    """
    spawner = None if sandbox is None else Spawner(sandbox, course, week, devices)
    try:
        gc.disable()  # while much is imported and hardly anything is garbage
        try:
            from .engine import Engine
            from .kept import KeptRuns
        finally:
            gc.enable()
        kept = KeptRuns(course.state / "bank" / week.name, *depends) if depends else None
        return Engine(course, week, devices, secret, spawner, kept)
    except BaseException:
        if spawner is not None:
            spawner.end()
        raise
