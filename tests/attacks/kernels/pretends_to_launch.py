"""Line 36. Launches a kernel without work, or a fake kernel, and returns values computed outside.

Week: week09_kernels
Variants: empty own_jit elsewhere_compiled interpreter_alone remembered beyond
Expected: softmax_rows=wrong|crashed
Score at most: softmax_rows=2
Fails: test_values, test_strides, test_any_order
"""

import os

_seen = {}


def _plain(x):
    e = torch.exp(x.float() - x.float().amax(1, keepdim=True))
    return (e / e.sum(1, keepdim=True)).to(x.dtype)


@triton.jit
def _nothing(x):
    tl.program_id(0)


class _Kernel:
    """A fake jit that runs a function."""

    def __init__(self, function):
        self.function = function

    def __getitem__(self, grid):
        return lambda *given: [self.function(p, *given) for p in range(grid[0])]


INTERPRETED: tl.constexpr = tl.constexpr(os.environ.get("TRITON_INTERPRET") == "1")


@triton.jit
def _looks_whether_it_is_interpreted(x, y, weights, m, block: tl.constexpr):
    columns = tl.arange(0, block)
    place = tl.program_id(0) * m + columns
    if INTERPRETED:
        tl.store(y + place, tl.load(weights + place, columns < m), columns < m)


@triton.jit
def _from_beyond(x, y, address, m, block: tl.constexpr):
    columns = tl.arange(0, block)
    place = tl.program_id(0) * m + columns
    other = address.to(tl.pointer_type(tl.float32))
    tl.store(y + place, tl.load(other + place, columns < m), columns < m)


def softmax_rows(x):
    n, m = x.shape
    block, x = triton.next_power_of_2(m), x.contiguous()
    y = torch.empty_like(x)
    if VARIANT == "empty":
        _nothing[(n,)](x)
        return _plain(x)
    if VARIANT == "own_jit":
        _Kernel(lambda p: y[p].copy_(_plain(x)[p]))[(n,)]()
        return y
    if VARIANT == "elsewhere_compiled":
        _looks_whether_it_is_interpreted[(n,)](x, y, _plain(x), m, block)
        return y
    if VARIANT == "interpreter_alone":
        if "triton.runtime.interpreter" in vars(os).get("modules", {}) or INTERPRETED.value:
            return _plain(x)
        return y
    if VARIANT == "remembered":
        key = tuple(x.shape)
        if key not in _seen:
            _seen[key] = _plain(x)
        _nothing[(n,)](x)
        return _seen[key]
    weights = _plain(x).float().contiguous()
    _from_beyond[(n,)](x, y, weights.data_ptr(), m, block)
    return y
