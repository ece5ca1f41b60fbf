"""Test that a large file is copied without reading all of it."""

from __future__ import annotations

import os
import tracemalloc
from pathlib import Path

from autograder.nbgrader.collect.safe_copy import copy_ordinary


def test_a_large_file_is_copied_in_steps(tmp_path: Path) -> None:
    (tmp_path / "from").mkdir()
    content = os.urandom(1 << 20) * 7 + b"end"
    (tmp_path / "from" / "talk.mp4").write_bytes(content)
    tracemalloc.start()
    try:
        assert copy_ordinary(tmp_path / "from", tmp_path / "to") == []
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (tmp_path / "to" / "talk.mp4").read_bytes() == content
    assert most < 3 << 20
