"""Functions of this week's adapters, which are placed in front of each of them."""

import math as _math


def _fitted_tiles(function, q, k, v, block_size, causal):
    """Call as given, else with other leading dimensions, or blocks that divide the lengths."""
    n, m = q.shape[-2], k.shape[-2]
    sizes = [block_size, _divisor(m, block_size), _divisor(_math.gcd(n, m), block_size)]
    first = None
    for size in dict.fromkeys(sizes):
        try:
            return _fitted(lambda *x: function(*x, size, causal), (2, 2, 2), q, k, v)
        except Exception as error:
            first = first or error
    raise first


def _divisor(length, most):
    return max(size for size in range(1, length + 1) if length % size == 0 and size <= most)
