"""Cuts windows and offsets off at a thousand.

Exercise: sliding_window_mask
Believes: no sequence is longer than that.
Shows: far into a text, queries see keys that they should not, or miss some that they should see.
Hint: Which numbers in your mask do not come from the arguments?
Rejected by: test_far_positions
Costs: 20 %
"""


_whole_mask = sliding_window_mask


def sliding_window_mask(n, m, window, sinks=0, offset=0, device=None):
    return _whole_mask(n, m, min(window, 1000), sinks, min(offset, 1000), device)
