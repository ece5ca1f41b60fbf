"""Removes axes of size 1.

Exercise: sliding_window_mask
Believes: A single row needs no axis.
Shows: (m,) instead of (1, m).
Hint: While decoding n is 1, and the scores still have an axis for it.
Rejected by: test_singleton_axes
Costs: 20 %
"""

_rows = sliding_window_mask


def sliding_window_mask(n, m, window, sinks=0, offset=0, device=None):
    return _rows(n, m, window, sinks, offset, device).squeeze()
