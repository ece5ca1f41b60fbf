"""Test that arrays created by NumPy are counted under any name."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from autograder.worker.monitor.call_hooks import Counting

X = torch.ones(32, 8)
_matmul = np.matmul


WAYS = {
    "operator": lambda: X.numpy() @ X.numpy().T,
    "alias": lambda: _matmul(X.numpy(), X.numpy().T),
    "einsum": lambda: np.einsum("id,jd->ij", X.numpy(), X.numpy()),
    "outer": lambda: np.add.outer(X[:, 0].numpy(), X[:, 0].numpy()),
    "inner module": lambda: __import__("numpy._core.umath")._core.umath.add.outer(X[:, 0], X[:, 0]),
    "empty": lambda: np.empty((32, 32), np.float32),
    "broadcast": lambda: X[:, None, 0].numpy() + X[None, :, 0].numpy(),
}


@pytest.mark.parametrize("way", WAYS)
def test_a_table_made_in_numpy_counts_as_one_made_in_torch(way):
    with Counting() as counting:
        WAYS[way]()
    assert counting.counts(0).largest >= 32 * 32


def test_work_in_numpy_counts():
    with Counting() as counting:
        for _ in range(10):
            X.numpy() * 2
    assert counting.counts(0).flops >= 10 * X.numel()


def test_an_array_that_is_kept_counts_and_the_result_does_not():
    with Counting() as counting:
        kept = X.numpy() @ X.numpy().T
        result = torch.from_numpy(kept * 2)
    assert counting.alive_elements_except([result]) == kept.size


def test_what_is_made_before_and_after_does_not_count():
    before = np.ones((64, 64))
    with Counting() as counting:
        torch.ones(2) + 1
    np.ones((64, 64))
    assert counting.counts(0).largest < before.size


def test_sizes_and_constants_count_next_to_nothing():
    with Counting() as counting:
        torch.ones(64) / np.sqrt(64) + float(np.log(2.0)) + int(np.prod((2, 3)))
    assert counting.counts(0).largest == 64


# An array may live until the interpreter shuts down and deletes its modules.
KEEPERS = {
    "a library": "np.kept = made",
    "sys": "sys.kept = made",
    "a tensor": "import torch; torch.kept = torch.from_numpy(made)",
    "a handler of errors": "import codecs; codecs.register_error('kept', lambda error, x=made: x)",
}
_A_PROCESS = """
import sys
import numpy as np
from autograder.worker.monitor.numpy_allocations import ArrayCount
with ArrayCount():
    made = np.ones(3000)
{}
del made
"""


@pytest.mark.parametrize("keeper", KEEPERS)
def test_a_process_ends_well_whatever_keeps_an_array_that_was_counted(keeper):
    code = _A_PROCESS.format(KEEPERS[keeper])
    root = str(Path(__file__).parents[2])
    ended = subprocess.run([sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": root})
    assert ended.returncode == 0
