"""Test on which cores the processes of a pool run."""

from __future__ import annotations

import os
import sys
import time

import pytest

from autograder.batch import pool


@pytest.mark.parametrize(
    ("count", "cores"),
    [
        (1, [{4, 7}]),  # the template may warm up on the other core
        (2, [{4}, {7}]),
        (3, [{4}, {7}, {4}]),
    ],
)
def test_each_process_has_a_core_where_all_cores_are_busy(monkeypatch, count, cores) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {7, 4})
    assert pool.process_cores(count) == cores


def test_where_cores_cannot_be_chosen_nothing_is(monkeypatch) -> None:
    monkeypatch.delattr(os, "sched_getaffinity")
    assert pool.process_cores(2) == [frozenset(), frozenset()]


def _own_cores(_: int) -> tuple[int, ...]:
    time.sleep(0.5)  # so that no process does the work of two
    return tuple(sorted(os.sched_getaffinity(0)))


def test_the_processes_of_a_pool_take_all_cores_between_them() -> None:
    free = os.sched_getaffinity(0)
    with pool.process_pool(len(free)) as processes:
        taken = set(processes.map(_own_cores, range(len(free))))
    assert taken == {(core,) for core in free}


def test_the_engine_that_was_not_used_for_longest_goes_first_and_never_the_one_at_work(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    jobs = [pool.Job("root", week, ("cpu",), b"", "none", 1.0) for week in ("a", "b", "c")]
    ended: list[str] = []
    engines = {
        pool._engine_key(job): (b"", None, lambda week=job.week: ended.append(week)) for job in jobs
    }
    monkeypatch.setattr(pool, "_engines", engines)
    assert pool.end_oldest_engine(but=jobs[0])
    assert pool.end_oldest_engine(but=jobs[0])
    assert not pool.end_oldest_engine(but=jobs[0])
    assert ended == ["b", "c"]


def _is_left_out(name: str) -> bool:
    return name in sys.modules and sys.modules[name] is None


def test_what_a_process_does_not_import_its_pool_does_not_either(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "wave", None)
    with pool.process_pool(1) as processes:
        assert list(processes.map(_is_left_out, ["wave", "json"])) == [True, False]
