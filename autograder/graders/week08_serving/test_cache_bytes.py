"""Hidden graders for `cache_bytes`."""

import pytest
import torch


@pytest.mark.weight(2)
def test_a_model(agree):
    """Count keys and values of all layers, key-value heads and positions once each."""
    agree.cache_bytes(5, 3, 7, 11)
    agree.cache_bytes(n_layers=32, n_kv_heads=8, d=128, length=8192)
    agree.cache_bytes(2, 4, 6, 10)


def test_batch(agree):
    """Count keys and values for every sequence of the batch."""
    agree.cache_bytes(2, 3, 5, 7, 4)
    agree.cache_bytes(2, 3, 5, 7, batch=11)


def test_numbers_of_any_type(agree):
    """Use the number of bytes per element of the dtype."""
    for dtype in (torch.float32, torch.bfloat16, torch.float64, torch.int8, torch.float16):
        agree.cache_bytes(3, 2, 5, 7, dtype=dtype)
        agree.cache_bytes(3, 2, 5, 7, 2, dtype)


def test_exact(agree):
    """Return an exact Python int, even if a float could not represent the number."""
    agree.cache_bytes(97, 89, 129, 10**12 + 1, 10**3 + 9)
    agree.cache_bytes(1, 1, 1, 1, dtype=torch.int8)


def test_empty_cache(agree):
    """Return 0 bytes for 0 positions."""
    agree.cache_bytes(4, 2, 8, 0)
    agree.cache_bytes(4, 2, 8, 1)
