"""`autograder verify --watch`: again what a save has changed, in processes that stay warm."""

from __future__ import annotations

import os
import time
from concurrent.futures import Executor
from dataclasses import replace
from pathlib import Path

from watchfiles import Change, watch

from ...authoring.aim import aims
from ...batch.pool import process_pool
from ...model.course import Course, load
from ...model.errors import KitError
from ...terminal.console import terminal
from .verification import Wanted, run_verification

_MATTERS = (".py", ".md", ".yaml")


def watch_verification(wanted: Wanted, only: str | None) -> None:
    """Until the terminal interrupts. What was proven and has not changed is not proven again."""
    console, root = terminal(soft_wrap=True), wanted.course.root
    pool = process_pool(wanted.jobs or os.cpu_count() or 1)
    places = [p for p in _places(wanted) if p.exists()]
    saves = watch(
        *places,
        watch_filter=_matters,
        rust_timeout=200,
        yield_on_timeout=True,
        raise_interrupt=False,
    )
    try:
        next(saves)  # looks from now on
        _again(wanted, only, pool)
        console.print("waiting for a save   Ctrl-C ends", style="dim")
        for changes in saves:
            if not changes:
                continue
            names = sorted({str(Path(p).relative_to(root)) for _, p in changes})
            console.print(f"\n{', '.join(names[:3])}", style="bold")
            started = time.monotonic()
            _again(wanted, only, pool)
            console.print(f"{time.monotonic() - started:.1f} s   waiting for a save", style="dim")
    except KeyboardInterrupt:
        return
    finally:
        pool.shutdown(cancel_futures=True)


def _again(wanted: Wanted, only: str | None, pool: Executor) -> None:
    try:
        course = load(wanted.course.root)
        weeks = [course.week(w.name) for w in wanted.weeks]
        aimed = tuple(aims(course, weeks, only)) if only else ()
        run_verification(replace(wanted, course=course, weeks=weeks, aims=aimed), pool)
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
