"""Line 36. Copies data out of a running kernel through concurrent code, and computes with it.

Week: week09_kernels
Variants: grid hook kernel helper closure default attribute language interpreter library argument failure constant printed given number forged hung patched method tuple tensor
Expected: softmax_rows=wrong|crashed
Score at most: softmax_rows=2
Fails: test_values, test_strides, test_any_order
"""

import contextlib
import io
import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

KEPT = []


class _Box:
    pass


BOX = _Box()


@triton.jit
def _copy(x, y, m, block: tl.constexpr):
    columns = tl.arange(0, block)
    values = tl.load(x + tl.program_id(0) * m + columns, columns < m, other=0.0)
    tl.store(y + tl.program_id(0) * m + columns, values, columns < m)


@triton.jit
def _copy_and_keep(x, y, m, block: tl.constexpr):
    KEPT.append(tl.load(x + tl.arange(0, block), tl.arange(0, block) < m, other=0.0))


@triton.jit
def _kept(values):
    KEPT.append(values)
    return values


@triton.jit
def _copy_with_help(x, y, m, block: tl.constexpr):
    _kept(tl.load(x + tl.arange(0, block), tl.arange(0, block) < m, other=0.0))


def _closed(kept):
    @triton.jit
    def kernel(x, y, m, block: tl.constexpr):
        kept(tl.load(x + tl.arange(0, block), tl.arange(0, block) < m, other=0.0))

    return kernel


_copy_closed = _closed(KEPT.append)


@triton.jit
def _copy_by_default(x, y, m, block: tl.constexpr, kept: tl.constexpr = KEPT):
    kept.append(tl.load(x + tl.arange(0, block), tl.arange(0, block) < m, other=0.0))


@triton.jit
def _copy_to_an_attribute(x, y, m, block: tl.constexpr):
    BOX.values = tl.load(x + tl.arange(0, block), tl.arange(0, block) < m, other=0.0)


@triton.jit
def _copy_to_an_argument(x, y, m, block: tl.constexpr, kept: tl.constexpr):
    kept.append(tl.load(x + tl.arange(0, block), tl.arange(0, block) < m, other=0.0))


HELD = tl.constexpr(KEPT)


class _Number(float):
    def keep(self, values):
        KEPT.append(values)


class _Forged:
    __module__ = "triton.language"

    def __call__(self, values):
        KEPT.append(values)


class _Tile(NamedTuple):
    block: int

    def keep(self, values):
        KEPT.append(values)


@dataclass(frozen=True)
class _Config:
    block: int

    def keep(self, values):
        KEPT.append(values)

    def __eq__(self, values):
        KEPT.append(values)
        return True


NUMBER, FORGED, TUPLE = _Number(2), _Forged(), _Tile(16)


@triton.jit
def _copy_by_a_method(x, y, m, config: tl.constexpr):
    places = tl.arange(0, config.block)
    if config == tl.load(x + places, places < m, other=0.0):
        tl.store(y, 0.0)
    config.keep(tl.load(x + places, places < m, other=0.0))


@triton.jit
def _copy_to_a_tuple(x, y, m, block: tl.constexpr):
    TUPLE.keep(tl.load(x + tl.arange(0, block), tl.arange(0, block) < m, other=0.0))


@triton.jit
def _compute_with_tensors(x: tl.constexpr, y: tl.constexpr):
    y.copy_(x.mul(1))


@triton.jit
def _copy_to_a_constant(x, y, m, block: tl.constexpr):
    HELD.value.append(tl.load(x + tl.arange(0, block), tl.arange(0, block) < m, other=0.0))


@triton.jit
def _copy_to_print(x, y, m, block: tl.constexpr):
    for i in range(m):
        tl.device_print("", tl.load(x + i))


@triton.jit
def _copy_by_a_given(x, y, m, block: tl.constexpr, function: tl.constexpr):
    function(tl.load(x + tl.arange(0, block), tl.arange(0, block) < m, other=0.0))


@triton.jit
def _copy_to_a_number(x, y, m, block: tl.constexpr):
    NUMBER.keep(tl.load(x + tl.arange(0, block), tl.arange(0, block) < m, other=0.0))


@triton.jit
def _copy_to_a_forged(x, y, m, block: tl.constexpr):
    FORGED(tl.load(x + tl.arange(0, block), tl.arange(0, block) < m, other=0.0))


@triton.jit
def _copy_to_a_type(x, y, m, block: tl.constexpr):
    tl.float32.kept.append(tl.load(x + tl.arange(0, block), tl.arange(0, block) < m, other=0.0))


@triton.jit
def _fail(x, y):
    tl.store(y, tl.load(x))
    tl.arange(0, 3.5)


def _data(values, size):
    return torch.tensor(np.asarray(values.handle.data).ravel()[:size].tolist())


def _numbers(x):
    flat = x.contiguous().view(1, -1)
    y, size = torch.zeros_like(flat), flat.numel()
    block = triton.next_power_of_2(size)
    KEPT.clear()
    if VARIANT == "hung":
        tl.float32.kept = KEPT
    if VARIANT == "grid":
        _copy[lambda _: KEPT.append(flat.clone()) or (1,)](flat, y, size, block)
        return KEPT[0].view(-1)
    if VARIANT == "hook":
        _copy.add_pre_run_hook(lambda *given, **_: KEPT.append(given[0].clone()))
        _copy[(1,)](flat, y, size, block)
        _copy.pre_run_hooks.clear()
        return KEPT[0].view(-1)
    if VARIANT == "failure":
        try:
            _fail[(1,)](flat, y)
        except Exception:
            pass
        return flat.clone().view(-1)
    if VARIANT == "language":
        plain = tl.load
        tl.load = lambda *a, **k: KEPT.append(plain(*a, **k)) or KEPT[-1]
        _copy[(1,)](flat, y, size, block)
        tl.load = plain
        return _data(KEPT[0], size)
    if VARIANT == "interpreter":
        builder = vars(triton.runtime.interpreter)["InterpreterBuilder"]
        plain = builder.create_masked_load

        def load(self, *given):
            KEPT.append(plain(self, *given).data.copy())
            return plain(self, *given)

        builder.create_masked_load = load
        _copy[(1,)](flat, y, size, block)
        builder.create_masked_load = plain
        return torch.tensor(KEPT[0].ravel()[:size].tolist())
    if VARIANT == "library":
        plain = np.broadcast_arrays
        np.broadcast_arrays = lambda *a, **k: KEPT.append(flat.clone()) or plain(*a, **k)
        _copy[(1,)](flat, y, size, block)
        np.broadcast_arrays = plain
        return KEPT[0].view(-1)
    if VARIANT == "patched":

        def grid(_):
            plain = tl.load
            tl.load = lambda *a, **k: KEPT.append(plain(*a, **k)) or KEPT[-1]
            return (1,)

        _copy[grid](flat, y, size, block)
        return _data(KEPT[0], size)
    if VARIANT == "printed":
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            _copy_to_print[(1,)](flat, y, size, block)
        lines = printed.getvalue().split("\n")
        return torch.tensor([float(line.split()[-1].strip("[]")) for line in lines if line.strip()])
    if VARIANT == "tensor":
        _compute_with_tensors[(1,)](flat, y)
        return y.view(-1)
    if VARIANT == "method":
        try:
            _copy_by_a_method[(1,)](flat, y, size, _Config(block))
        except Exception:  # there is no such method
            pass
    elif VARIANT == "argument":
        _copy_to_an_argument[(1,)](flat, y, size, block, KEPT)
    elif VARIANT == "given":
        _copy_by_a_given[(1,)](flat, y, size, block, _kept)
    elif VARIANT == "attribute":
        _copy_to_an_attribute[(1,)](flat, y, size, block)
        return _data(BOX.values, size)
    else:
        kernels = {
            "kernel": _copy_and_keep,
            "helper": _copy_with_help,
            "closure": _copy_closed,
            "default": _copy_by_default,
            "constant": _copy_to_a_constant,
            "number": _copy_to_a_number,
            "forged": _copy_to_a_forged,
            "hung": _copy_to_a_type,
            "tuple": _copy_to_a_tuple,
        }
        kernels[VARIANT][(1,)](flat, y, size, block)
    return _data(KEPT[0], size) if KEPT else y.view(-1)


def softmax_rows(x):
    if x.device.type != "cpu":
        return x
    rows = []
    for row in _numbers(x).view(x.shape).tolist():
        weights = [math.exp(v - max(row)) for v in row]
        rows.append([w / math.fsum(weights) for w in weights])
    _copy[(x.shape[0],)](x.contiguous(), torch.empty(x.shape), x.shape[1], 16)
    return torch.tensor(rows, dtype=x.dtype)
