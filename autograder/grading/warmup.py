"""Create an engine while its sandbox starts, and tune the garbage collector for grading."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ..model.course import Course, Week
from ..sandbox import Sandbox
from .targets.confined_process import Spawner

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
    """Start the sandbox's fork server, if there is a sandbox, and create an engine meanwhile.

    depends: a hash of everything that the test results of the course's own programs depend on, or
             None to store no results on disk
    """
    spawner = None if sandbox is None else Spawner(sandbox, course, week, devices)
    try:
        gc.disable()  # imports allocate many objects and free few
        try:
            import torch

            from .engine import Engine
            from .running.disk_cache import RunCache

            # For small matrices, extra threads would busy-wait on cores that other processes need.
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


_THRESHOLD = (20_000, 20, 20)


@contextmanager
def rare_collection() -> Iterator[None]:
    """Exclude existing objects from garbage collection, and collect new objects rarely.

    A hidden test creates a few thousand objects, but torch and its libraries create a million. With
    Python's default thresholds, garbage collection takes a third of the run time of `verify`, or
    half if the tests draw many figures.
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
