"""Create an engine while its sandbox starts, and tune the garbage collector for grading."""

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

    depends: a hash of everything that the replies of the course's own programs depend on; None does
             not store these replies on disk
    """
    spawner = None if sandbox is None else Spawner(sandbox, course, week, devices)
    try:
        gc.disable()  # imports allocate many objects and free few
        try:
            import torch

            from .engine import Engine
            from .running.disk_cache import RunCache

            # More threads would busy-wait in small products, on cores that other processes need.
            torch.set_num_threads(1)
            kept = RunCache(course.state / "bank" / week.name, depends) if depends else None
            engine = Engine(course, week, devices, secret, spawner, kept)
            gc.freeze()  # so that the next collection does not traverse all of torch
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
    """Exclude existing objects from garbage collection, and collect new objects rarely.

    A hidden test creates a few thousand objects, and torch and its libraries a million. By default,
    garbage collection takes a third of a proof, and half of a proof that draws many figures.
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
