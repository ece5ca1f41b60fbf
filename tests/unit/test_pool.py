"""Test which engine a process gives up."""

from __future__ import annotations

import pytest

from autograder.batch import pool


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
