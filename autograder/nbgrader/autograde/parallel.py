"""One thing for each of many students, on all cores, by copies of the process that asks.

A copy has from its first moment what the process has loaded and made: nbgrader, compiled templates,
what the whole class shares. Starting afresh takes seconds. What cannot be shared, such as the
gradebook, each opens for itself.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager, ExitStack
from multiprocessing import get_context
from multiprocessing.queues import SimpleQueue

from ...batch.pool import process_cores, settle_in

Do = Callable[[str], str]
Opened = Callable[[], AbstractContextManager[object]]
_AT_ONCE = 4  # students, between two words to the process that asked
_WORTH = 16  # students, for which another process is started


def on_all_cores(do: Do, opened: Opened, students: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Each student with what `do` says of them, in the order in which they are done.

    `do` is called within `opened()`, which each process enters once. Nothing may be open already
    that two processes cannot share. If a process dies, this one does what is left.
    """
    left = dict.fromkeys(students)
    count = min(cores(), len(left) // _WORTH)
    if count > 1:
        for student, said in _spread(do, opened, list(left), count):
            del left[student]
            yield student, said
    if left:
        with opened():
            for student in left:
                yield student, do(student)


def cores() -> int:
    """How many processes may run at once."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else 1


def _spread(
    do: Do, opened: Opened, students: Sequence[str], count: int
) -> Iterator[tuple[str, str]]:
    context = get_context("fork")
    own = context.SimpleQueue()
    for core in process_cores(count):
        own.put(core)
    pool = ProcessPoolExecutor(count, context, initializer=_begin, initargs=(own, do, opened))
    try:
        parts = [students[n : n + _AT_ONCE] for n in range(0, len(students), _AT_ONCE)]
        for future in as_completed([pool.submit(_do_each, part) for part in parts]):
            try:
                yield from future.result()
            except BrokenProcessPool:
                return
    finally:
        pool.shutdown(cancel_futures=True)


# In the process

_do: list[Do] = []
_open = ExitStack()


def _begin(own: SimpleQueue[frozenset[int]], do: Do, opened: Opened) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever asked ends us
    settle_in(own)
    _open.enter_context(opened())
    _do[:] = [do]


def _do_each(students: Sequence[str]) -> list[tuple[str, str]]:
    (do,) = _do
    return [(student, do(student)) for student in students]
