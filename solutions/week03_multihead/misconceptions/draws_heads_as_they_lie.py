"""Reads the weights in the order in which they lie in memory.

Exercise: plot_heads
Believes: a tensor is a row of numbers in memory, and its shape says how to cut it.
Shows: transposed weights are drawn as if they were not transposed.
Hint: What does `.mT` change in memory? Index the weights instead of walking through their memory.
Rejected by: test_views
Costs: 20 %
"""


_drawn = plot_heads


def plot_heads(weights, tokens=None):
    heads, queries, keys = weights.shape
    return _drawn(weights.as_strided(weights.shape, (queries * keys, keys, 1)), tokens)
