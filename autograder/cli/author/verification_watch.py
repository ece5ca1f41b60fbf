"""`autograder verify --watch`: verify again after each save, in processes that stay warm."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from pathlib import Path

from watchfiles import watch

from ...authoring.verify.selection import find_selections
from ...batch.pool import process_pool
from ...model.course import load
from ...model.errors import KitError
from ...terminal.console import terminal
from .verification import Abandoned, Verify, run_verification

_POLL_MILLISECONDS = 50
_SUFFIXES = (".py", ".md", ".yaml")


class _Saves:
    """The files saved since the last call of `take`."""

    def __init__(self, places: list[Path]) -> None:
        self._changes = watch(
            *places,
            watch_filter=lambda change, path: path.endswith(_SUFFIXES),
            rust_timeout=_POLL_MILLISECONDS,
            yield_on_timeout=True,
            raise_interrupt=False,
        )
        self._saved: set[Path] = set()
        self.poll()  # start watching

    def poll(self) -> bool:
        """Return True if a file has been saved; waits for a moment."""
        self._saved |= {Path(p) for _, p in next(self._changes)}
        return bool(self._saved)

    def take(self) -> list[Path]:
        """Wait for a save; return the saved files."""
        while not self.poll():
            pass
        saved, self._saved = sorted(self._saved), set()
        return saved


def watch_verification(verify: Verify, only: str | None) -> None:
    """Verify after each save until Ctrl-C; unchanged parts come from the cache.

    The next save abandons a running verification.
    """
    console, root = terminal(soft_wrap=True), verify.course.root
    # one more than usual, so that a save finds an idle process
    pool = process_pool((verify.jobs or os.cpu_count() or 1) + 1)
    places = [root / "course.yaml"]
    for week in verify.weeks:
        places += [verify.course.solution_folder(week), verify.course.graders(week)]
        places.append(verify.course.exercise_folder(week))
    saves = _Saves([p for p in places if p.exists()])

    def run() -> None:
        began = time.monotonic()
        try:
            course = load(root)
            weeks = [course.week(w.name) for w in verify.weeks]
            selected = tuple(find_selections(course, weeks, only)) if only else ()
            if selected:
                weeks = [w for w in weeks if any(s.week == w.name for s in selected)]
            changed = replace(verify, course=course, weeks=weeks, aims=selected)
            run_verification(changed, pool, saves.poll)
        except Abandoned:
            print("abandoned, because a file was saved")
        except KitError as error:
            print(f"autograder: {error}")  # the next save may fix it
        console.print(f"{time.monotonic() - began:.1f} s", style="dim", end="   ")

    try:
        run()
        while True:
            console.print("waiting for a save   Ctrl-C ends", style="dim")
            changed = saves.take()
            names = [str(path.relative_to(root)) for path in changed]
            console.print(f"\n{', '.join(names[:3])}", style="bold")
            run()
    except KeyboardInterrupt:
        return
    finally:
        pool.shutdown(cancel_futures=True)
