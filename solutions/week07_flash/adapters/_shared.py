"""Functions of this week's adapters, which are placed in front of each of them."""

import math as _math
from itertools import product as _product


def _fitted(function, q, k, v, block_size, causal):
    """Call as given, else with another number of axes, or blocks that divide the lengths."""
    n, m = q.shape[-2], k.shape[-2]
    sizes = [block_size, _divisor(m, block_size), _divisor(_math.gcd(n, m), block_size)]
    first = None
    for size, axes in _product(dict.fromkeys(sizes), (None, 4, 3, 2)):
        try:
            return _with_axes(axes, function, q, k, v, size, causal)
        except Exception as error:
            first = first or error
    raise first


def _divisor(length, most):
    return max(size for size in range(1, length + 1) if length % size == 0 and size <= most)


def _with_axes(axes, function, q, k, v, block_size, causal):
    if axes is None:
        return function(q, k, v, block_size, causal)
    lead = q.shape[:-2]
    if axes == 2:
        rows = zip(*(x.reshape(-1, *x.shape[-2:]).unbind() for x in (q, k, v)), strict=True)
        parts = [_parts(function(*row, block_size, causal)) for row in rows]
        results = [torch.stack(part) for part in zip(*parts, strict=True)]
    else:
        front = (1,) * (axes - 2 - len(lead)) + lead
        if len(front) > axes - 2:
            front = (1,) * (axes - 3) + (lead.numel(),)
        given = (x.reshape(*front, *x.shape[-2:]) for x in (q, k, v))
        results = _parts(function(*given, block_size, causal))
    shaped = [x.reshape(*lead, *x.shape[1 if axes == 2 else axes - 2 :]) for x in results]
    return shaped[0] if len(shaped) == 1 else tuple(shaped)


def _parts(result):
    return result if isinstance(result, tuple) else (result,)
