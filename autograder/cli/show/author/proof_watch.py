"""`autograder verify --watch`: again what a save has changed, in processes that stay warm."""

from __future__ import annotations

import os
import time
from concurrent.futures import Executor
from dataclasses import replace
from pathlib import Path

from watchfiles import Change, watch

from ....authoring.verify.selection import Aim, Written, aims
from ....batch.pool import process_pool
from ....model.course.loader import Course, load
from ....model.errors import KitError
from ....terminal.console import terminal
from .verification import Abandoned, Wanted, run_verification

_LOOKS = 50  # milliseconds
_MATTERS = (".py", ".md", ".yaml")


def watch_verification(wanted: Wanted, only: str | None) -> None:
    """Until the terminal interrupts. What was proven and has not changed is not proven again.

    The tests and misconceptions that a save changed are proven first, then whatever depends on
    them, until the next save.
    """
    console, root = terminal(soft_wrap=True), wanted.course.root
    # one process more: it has time for a save while the others are at what depends on the last
    pool = process_pool((wanted.jobs or os.cpu_count() or 1) + 1)
    saves = _Saves([p for p in _places(wanted) if p.exists()])
    written = Written(wanted.course, wanted.weeks)

    def again(aims: tuple[Aim, ...] = ()) -> None:
        started = time.monotonic()
        _again(wanted, only, aims, pool, saves)
        console.print(f"{time.monotonic() - started:.1f} s", style="dim", end="   ")

    try:
        again()
        while True:
            console.print("waiting for a save   Ctrl-C ends", style="dim")
            changed = saves.taken()
            names = [str(path.relative_to(root)) for path in changed]
            console.print(f"\n{', '.join(names[:3])}", style="bold")
            if (first := written.changed(changed)) and first != wanted.aims:
                again(first)
                console.print("now what depends on it", style="dim")
            if not saves.look():
                again()
    except KeyboardInterrupt:
        return
    finally:
        pool.shutdown(cancel_futures=True)


class _Saves:
    """What was saved since it was last asked for."""

    def __init__(self, places: list[Path]) -> None:
        self._looks = watch(
            *places,
            watch_filter=_matters,
            rust_timeout=_LOOKS,
            yield_on_timeout=True,
            raise_interrupt=False,
        )
        self._saved: set[Path] = set()
        self.look()  # looks from now on

    def look(self) -> bool:
        """Whether something was saved; looks for a moment."""
        self._saved |= {Path(p) for _, p in next(self._looks)}
        return bool(self._saved)

    def taken(self) -> list[Path]:
        """What was saved, once something is."""
        while not self.look():
            pass
        saved, self._saved = sorted(self._saved), set()
        return saved


def _again(
    wanted: Wanted, only: str | None, first: tuple[Aim, ...], pool: Executor, saves: _Saves
) -> None:
    try:
        course = load(wanted.course.root)
        weeks = [course.week(w.name) for w in wanted.weeks]
        aimed = first or (tuple(aims(course, weeks, only)) if only else ())
        if aimed:
            weeks = [w for w in weeks if any(a.week == w.name for a in aimed)]
        now = replace(wanted, course=course, weeks=weeks, aims=aimed)
        run_verification(now, pool, saves.look)
    except Abandoned:
        print("a save came before the end of it")
    except KitError as error:
        print(f"autograder: {error}")  # until it is mended


def _places(wanted: Wanted) -> list[Path]:
    course: Course = wanted.course
    folders = [course.root / "course.yaml"]
    for week in wanted.weeks:
        folders += [
            course.solution_folder(week),
            course.graders(week),
            course.exercise_folder(week),
        ]
    return folders


def _matters(change: Change, path: str) -> bool:
    return path.endswith(_MATTERS)
