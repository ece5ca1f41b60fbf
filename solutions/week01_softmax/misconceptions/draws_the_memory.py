"""Reads the weights in the order in which they lie in memory.

Exercise: ascii_heatmap
Believes: an array is a row of numbers in memory, and its shape says how to cut it.
Shows: a transposed matrix is drawn as if it were not transposed.
Hint: What does `weights.T` change in memory? Index the array instead of walking through its memory.
Rejected by: test_views
Costs: 20 %
Belief: reads_memory
"""


def _in_memory(x):
    """Return the numbers in memory order."""
    return np.lib.stride_tricks.as_strided(x, x.shape, np.empty_like(x, order="C").strides)


_drawn_from_its_cells = ascii_heatmap


def ascii_heatmap(weights, tokens, chars=" ░▒▓█", width=6):
    return _drawn_from_its_cells(_in_memory(weights), tokens, chars, width)
