"""Libraries that only some weeks need, imported where their hidden tests run."""

from __future__ import annotations

import gc

from ...model.course.loader import Week
from ...worker.torch_support.builders import warm
from ..targets.spawner import usable_extras


def warm_extras(week: Week) -> None:
    """Import what exercises of the week need; it stays, so nobody looks for garbage among it."""
    extras = usable_extras(week)
    if not extras:
        return
    collecting = gc.isenabled()
    gc.disable()
    try:
        for extra in extras:
            warm(extra)
        gc.freeze()
    finally:
        if collecting:
            gc.enable()
