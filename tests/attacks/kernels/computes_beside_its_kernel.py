"""Line 36. Computes softmax outside a kernel that only copies, by several means, also from copied data.

Week: week09_kernels
Variants: python numpy torch memory copied bits twice
Expected: softmax_rows=wrong
Score at most: softmax_rows=2
Fails: test_values, test_strides, test_any_order
"""

import math

import numpy as np


@triton.jit
def _copy(x, y, m, block: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, block)
    values = tl.load(x + row * m + columns, columns < m)
    tl.store(y + row * m + columns, values, columns < m)


@triton.jit
def _copy_bits(x, y, m, block: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, block)
    values = tl.load(x + row * m + columns, columns < m).to(tl.float32)
    tl.store(y + row * m + columns, values.to(tl.int32, bitcast=True), columns < m)


def _put(x):
    y = torch.empty_like(x)
    _copy[(x.shape[0],)](x, y, x.shape[1], triton.next_power_of_2(x.shape[1]))
    return y


def _row(row):
    top = max(row)
    weights = [math.exp(v - top) for v in row]
    return [w / math.fsum(weights) for w in weights]


def _bits(x):
    y = torch.empty(x.shape, dtype=torch.int32, device=x.device)
    _copy_bits[(x.shape[0],)](x, y, x.shape[1], triton.next_power_of_2(x.shape[1]))
    return y.numpy().view(np.float32).tolist()


def _numbers(x):
    plain = x.contiguous()
    if VARIANT == "python":
        return plain.tolist()
    if VARIANT == "numpy":
        return plain.numpy().tolist()
    if VARIANT == "torch":
        return [[v.item() for v in row] for row in plain.unbind()]
    if VARIANT == "memory":
        return memoryview(plain.float().numpy()).tolist()
    if VARIANT == "copied":
        return _put(plain).tolist()
    if VARIANT == "bits":
        return _bits(plain)
    return _put(_put(plain)).tolist()


def softmax_rows(x):
    if x.device.type != "cpu":
        return x
    return _put(torch.tensor([_row(row) for row in _numbers(x)], dtype=x.dtype))
