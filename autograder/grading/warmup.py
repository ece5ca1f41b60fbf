"""An engine and its sandbox, warmed up side by side."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ..model.course.loader import Course, Week
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
            import torch

            from .engine import Engine
            from .running.disk_cache import KeptRuns

            # A submission has one thread as well. More of ours would spin for each other's next
            # small product, on the cores on which other processes grade.
            torch.set_num_threads(1)
            gc.freeze()  # else the next objects that are made have all of torch looked through
        finally:
            gc.enable()
        kept = KeptRuns(course.state / "bank" / week.name, *depends) if depends else None
        return Engine(course, week, devices, secret, spawner, kept)
    except BaseException:
        if spawner is not None:
            spawner.end()
        raise


# What is made and not freed again before the young are looked at; and how often the older are.
_SELDOM = (20_000, 20, 20)


@contextmanager
def seldom_collected() -> Iterator[None]:
    """What is here now stays meanwhile, and what is made is seldom looked through for garbage.

    A hidden test makes a few thousand objects beside the million that torch and its libraries are;
    to look through all of them again and again took a third of a proof, and half where many
    figures are drawn.
    """
    before = gc.get_threshold()
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_SELDOM)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()
