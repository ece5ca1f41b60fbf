"""Create an engine and start its sandbox in parallel; tune the garbage collector."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ..model.course import Course, Week
from ..sandbox import Sandbox
from .targets.spawner import Spawner

if TYPE_CHECKING:
    from .engine import Engine


def warm_engine(
    course: Course,
    week: Week,
    devices: tuple[str, ...],
    secret: bytes,
    sandbox: Sandbox | None,
    depends: bytes | None = None,
) -> Engine:
    """Create an engine while the sandbox's fork server starts.

    depends: a hash of everything that the answers of the project's own code depend on. If given,
        these answers are stored on disk.
    """
    spawner = None if sandbox is None else Spawner(sandbox, course, week, devices)
    try:
        gc.disable()  # imports allocate many objects and free few
        try:
            import torch

            from .engine import Engine
            from .running.disk_cache import RunCache

            # More threads would wait actively for small products, on cores where other processes
            # grade.
            torch.set_num_threads(1)
            kept = RunCache(course.state / "bank" / week.name, depends) if depends else None
            engine = Engine(course, week, devices, secret, spawner, kept)
            gc.freeze()  # otherwise the next collection would traverse all of torch
            return engine
        finally:
            gc.enable()
    except BaseException:
        if spawner is not None:
            spawner.end()
        raise


_THRESHOLD = (20_000, 20, 20)  # of gc.set_threshold


@contextmanager
def rare_collection() -> Iterator[None]:
    """Exclude existing objects from garbage collection, and collect new ones rarely.

    A hidden test creates a few thousand objects; torch and its libraries have a million. The
    collector's traversals took a third of a proof, and half if many figures are drawn.
    """
    before = gc.get_threshold()
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_THRESHOLD)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()
