"""Hidden graders for `sliding_window_mask`."""

import pytest


@pytest.mark.weight(2)
def test_a_window(agree):
    """Let a query attend to its position and the `window` - 1 positions before it."""
    for window in (1, 2, 3, 5):
        agree.sliding_window_mask(8, 8, window)
    agree.sliding_window_mask(n=7, m=7, window=4)


def test_a_window_of_everything(agree):
    """Return the causal mask if the window is at least as long as the sequence."""
    for window in (6, 7, 50):
        agree.sliding_window_mask(6, 6, window)


@pytest.mark.weight(2)
def test_sinks(agree):
    """Let every query attend to the first `sinks` positions, except those after its own."""
    for sinks in (1, 2, 4):
        agree.sliding_window_mask(9, 9, 3, sinks)
    agree.sliding_window_mask(9, 9, 1, sinks=7)
    agree.sliding_window_mask(4, 4, 2, sinks=9)


@pytest.mark.weight(2)
def test_offset(agree):
    """Place query i at position offset + i: return the last n rows of the full mask."""
    for n, offset in ((3, 5), (1, 7), (2, 1)):
        agree.sliding_window_mask(n, offset + n, 3, offset=offset)


@pytest.mark.weight(2)
def test_sinks_and_offset(agree):
    """Let each token attend to its window and to the sinks during decoding."""
    for length in (2, 5, 11):
        agree.sliding_window_mask(1, length + 1, 4, 2, length)
    agree.sliding_window_mask(3, 12, 2, sinks=3, offset=9)


def test_more_keys_than_positions(agree):
    """Mask all keys after a query, including sinks and keys beyond the last query."""
    agree.sliding_window_mask(3, 9, 2)
    agree.sliding_window_mask(3, 9, 2, sinks=8)
    agree.sliding_window_mask(2, 9, 4, sinks=1, offset=3)


def test_more_queries_than_keys(agree):
    """Let queries whose window begins after the last key attend only to the sinks, if any."""
    agree.sliding_window_mask(9, 3, 2)
    agree.sliding_window_mask(9, 3, 4, sinks=1)
    agree.sliding_window_mask(2, 3, 2, offset=10)


def test_singleton_axes(agree):
    """Keep axes of size 1, for a single query or key."""
    agree.sliding_window_mask(1, 1, 1)
    agree.sliding_window_mask(1, 5, 2, offset=4)
    agree.sliding_window_mask(5, 1, 2)


@pytest.mark.weight(1, elsewhere=2)
def test_device(agree, device):
    """Create the mask on the requested device."""
    agree.sliding_window_mask(4, 6, 2, sinks=1, offset=2, device=device)


def test_far_positions(agree):
    """Support windows and positions above a thousand."""
    agree.sliding_window_mask(2, 1400, 1200, offset=1300)
