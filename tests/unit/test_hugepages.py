"""The template's memory goes onto large pages, and holds what it held."""

from __future__ import annotations

import mmap
import subprocess
import sys

import pytest

from autograder.worker.isolation import hugepages

PROGRAM = """
import os, re
from autograder.worker.isolation import hugepages

held = [bytes([i % 251]) * 65_536 for i in range(512)]  # 32 MiB
hugepages.collapse()
assert all(block == bytes([i % 251]) * 65_536 for i, block in enumerate(held))
print(re.search(r"AnonHugePages:\\s+(\\d+)", open("/proc/self/smaps_rollup").read())[1])
"""


def test_what_is_held_stays_and_lies_on_large_pages() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    if int(done.stdout) == 0:
        pytest.skip("this kernel does not collapse pages on request")
    assert int(done.stdout) >= 16 * 1024


def test_only_private_memory_without_a_file_is_touched(tmp_path) -> None:
    path = tmp_path / "data"
    path.write_bytes(bytes(8 << 20))
    with path.open("r+b") as file, mmap.mmap(file.fileno(), 0) as shared:
        shared[0] = 1
        ranges = list(hugepages._private_memory())
        with open("/proc/self/maps") as maps:
            lines = [line.split() for line in maps if "data" in line]
    for place, *_ in lines:
        start, end = (int(bound, 16) for bound in place.split("-"))
        assert not any(a < end and start < b for a, b in ranges)
    assert all(a % (2 << 20) == b % (2 << 20) == 0 for a, b in ranges)
