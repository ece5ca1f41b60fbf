"""Check that the peers of a benchmark run the same hidden tests."""

from __future__ import annotations

from pathlib import Path

from benchmarks.plain import failures

GOLDEN = Path(__file__).resolve().parents[1] / "golden"


def test_a_peer_fails_what_the_hidden_tests_fail() -> None:
    submissions = GOLDEN / "submissions"
    right = submissions / "solution" / "tiny.py"
    wrong = submissions / "misses_scale" / "tiny.py"
    course = str(GOLDEN / "course")
    assert failures(course, "week01_tiny", str(right)) == []
    assert any("test_Scale" in name for name in failures(course, "week01_tiny", str(wrong)))
