"""Test that excessive requests of a submission are refused and count as its own mistake."""

from __future__ import annotations

import resource
import sys

import numpy as np
import pytest
import torch

from autograder.grading.targets.resource_limits import ceiling, machine_is_short

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux counts a process's own")
MIB = 1 << 20


def test_what_goes_beyond_the_ceiling_is_refused() -> None:
    with ceiling(64 * MIB), pytest.raises(MemoryError):
        np.ones(256 * MIB, np.uint8)
    with ceiling(64 * MIB), pytest.raises(RuntimeError, match="can't allocate memory"):
        torch.ones(64 * MIB)


def test_what_stays_below_it_is_not() -> None:
    with ceiling(64 * MIB):
        assert np.ones(16 * MIB, np.uint8).sum() == 16 * MIB


def test_afterwards_all_is_as_before() -> None:
    before = resource.getrlimit(resource.RLIMIT_DATA)
    with pytest.raises(KeyError), ceiling():
        raise KeyError
    assert resource.getrlimit(resource.RLIMIT_DATA) == before
    assert np.ones(128 * MIB, np.uint8).any()


def test_a_machine_with_memory_left_is_not_to_blame() -> None:
    assert not machine_is_short(16 * MIB)
    assert machine_is_short(1 << 60)
