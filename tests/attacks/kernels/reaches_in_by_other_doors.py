"""Line 36. Runs Python code within a kernel, or copies data out of it, by means invisible in its source.

Week: week09_kernels
Variants: dunder semantic library_module instance added_attribute own_builtins shadowed grid_swaps grid_index grid_opens_early own_executor module_that_lies constant_with_more tuple_with_more assertion enclosing numpy_errors warnings lists initializer builder match marks flags bisects lock
Expected: softmax_rows=wrong|crashed|timeout
Score at most: softmax_rows=2
Fails: test_values, test_strides, test_any_order
"""

import math
import sys
import types
import warnings

import numpy as np

KEPT = []
STATE = {}
language = vars(tl)


@triton.jit
def _copy(x, y, m, block: tl.constexpr):
    columns = tl.arange(0, block)
    values = tl.load(x + tl.program_id(0) * m + columns, columns < m, other=0.0)
    tl.store(y + tl.program_id(0) * m + columns, values + 0, columns < m)


@triton.jit
def _copy_in_steps(x, y, m, block: tl.constexpr):
    for i in range(m):
        tl.store(y + i, tl.load(x + i))


@triton.jit
def _helped(values):
    return values


@triton.jit
def _copy_with_help(x, y, m, block: tl.constexpr):
    _helped(tl.load(x + tl.arange(0, block), tl.arange(0, block) < m, other=0.0))


@triton.jit
def _divide(x, y, m, block: tl.constexpr):
    columns = tl.arange(0, block)
    values = tl.load(x + columns, columns < m, other=0.0)
    tl.store(y + columns, values / 0.0, columns < m)


@triton.jit
def _keep_in_an_attribute(x, y, m, block: tl.constexpr):
    values = tl.load(x + tl.arange(0, block), tl.arange(0, block) < m, other=0.0)
    values.kept.append(values)


@triton.jit
def _keep_in_a_constant(x, y, m, block: tl.constexpr):
    held = block
    held.kept.append(tl.load(x + tl.arange(0, block), tl.arange(0, block) < m, other=0.0))


class _Held(tuple):
    def keep(self, values):
        KEPT.append(values)


HELD = _Held((1, 2))
MODULE = types.ModuleType("module")
MODULE.__getattr__ = lambda name: (
    KEPT.append if STATE.setdefault(name, []).append(1) or len(STATE[name]) > 1 else tl.max
)


@triton.jit
def _keep_in_a_tuple(x, y, m, block: tl.constexpr):
    HELD.keep(tl.load(x + tl.arange(0, block), tl.arange(0, block) < m, other=0.0))


@triton.jit
def _keep_in_a_module(x, y, m, block: tl.constexpr):
    MODULE.keep(tl.load(x + tl.arange(0, block), tl.arange(0, block) < m, other=0.0))


@triton.jit
def _fail_with_numbers(x, y, m, block: tl.constexpr):
    values = tl.load(x + tl.arange(0, block), tl.arange(0, block) < m, other=0.0)
    assert m < 0, values


def _enclosed():
    kept = 0

    @triton.jit
    def kernel(x, y, m, block: tl.constexpr):
        nonlocal kept
        kept = tl.load(x + tl.arange(0, block), tl.arange(0, block) < m, other=0.0)

    return kernel, lambda: kept


_keep_enclosed, _enclosed_numbers = _enclosed()


@triton.jit
def _keep_in_a_list(x, y, m, block: tl.constexpr):
    kept = triton.KEPT
    kept.append(tl.load(x + tl.arange(0, block), tl.arange(0, block) < m, other=0.0))


@triton.jit
def _keep_in_the_builder(x, y, m, block: tl.constexpr):
    values = tl.load(x + tl.arange(0, block), tl.arange(0, block) < m, other=0.0)
    triton.runtime.interpreter.interpreter_builder.set_grid_dim(values, 1, 1)


@triton.jit
def _match(x, y, m, block: tl.constexpr):
    values = tl.load(x + tl.arange(0, block), tl.arange(0, block) < m, other=0.0)
    match values:
        case tl.tensor(handle=triton.runtime.interpreter.TensorHandle(data=found)):
            found.tofile("kept.bin")


@triton.jit
def _mark(x, y, m, block: tl.constexpr):
    columns = tl.arange(0, block)
    bits = tl.load(x + columns, columns < m, other=0.0).to(tl.float32).to(tl.int32, bitcast=True)
    for bit in range(32):
        tl.store(y + columns * 32 + bit, 1.0, (columns < m) & (((bits >> bit) & 1) == 1))


@triton.jit
def _flag(x, y, m, block: tl.constexpr):
    for place in tl.static_range(block):
        value = tl.load(x + place // 32, place // 32 < m, other=0.0).to(tl.float32)
        bit = (value.to(tl.int32, bitcast=True) >> (place % 32)) & 1
        tl.store(y[place], 1.0, bit == 1)


@triton.jit
def _compare(x, y, place, bit, block: tl.constexpr):
    value = tl.load(x + place).to(tl.float32).to(tl.int32, bitcast=True)
    tl.static_assert(((value >> bit) & 1) == 0)


def _of_bits(marked, size):
    bits = np.asarray(marked).reshape(size, 32).astype(np.uint64)
    numbers = (bits << np.arange(32, dtype=np.uint64)).sum(1).astype(np.uint32)
    return torch.tensor(numbers.view(np.float32).tolist())


class _Grid:
    """A number of programs that is evaluated while a kernel runs."""

    def __init__(self, ask):
        self.ask = ask

    def __index__(self):
        self.ask()
        return 1

    def __mul__(self, other):
        return self if other == 1 else 1

    __rmul__ = __mul__

    def __int__(self):
        return 1


def _plain(values, size):
    data = values if isinstance(values, np.ndarray) else values.handle.data
    return torch.tensor(np.asarray(data).ravel()[:size].tolist())


def _numbers(x):
    flat = x.contiguous().view(1, -1)
    y, size = torch.zeros_like(flat), flat.numel()
    block = triton.next_power_of_2(size)
    interpreter = triton.runtime.interpreter
    KEPT.clear()

    def look(*_, **__):
        KEPT.append(flat.clone())

    def watched(plain):
        return lambda *a, **k: look() or plain(*a, **k)

    def launch(kernel=_copy, grid=(1,), *more):
        try:
            kernel[grid](flat, y, size, *(more or (block,)))
        except Exception as error:
            STATE["error"] = error

    def exchanged(owner, name, kernel=_copy):
        plain = getattr(owner, name)
        setattr(owner, name, watched(plain))
        launch(kernel)
        setattr(owner, name, plain)
        return KEPT[-1].view(-1)

    if VARIANT == "dunder":
        return exchanged(tl.tensor, "__add__")
    if VARIANT == "initializer":
        return exchanged(interpreter.TensorHandle, "__init__")
    if VARIANT == "semantic":
        return exchanged(type(interpreter.interpreter_semantic), "load")
    if VARIANT == "library_module":
        return exchanged(interpreter._interpreter, "load")
    if VARIANT == "instance":
        builder = interpreter.interpreter_builder
        builder.create_masked_load = watched(builder.create_masked_load)
        launch()
        del builder.create_masked_load
        return KEPT[-1].view(-1)
    if VARIANT == "added_attribute":
        tl.tensor.kept = KEPT
        launch(_keep_in_an_attribute)
    elif VARIANT == "own_builtins":
        own = vars(sys.modules[__name__])["__builtin" + "s__"]
        own["range"] = watched(range)
        launch(_copy_in_steps)
        own["range"] = range
        return KEPT[-1].view(-1)
    elif VARIANT == "shadowed":
        for module in (interpreter, tl.core):
            module.isinstance = watched(isinstance)
        launch()
        for module in (interpreter, tl.core):
            del module.isinstance
        return KEPT[-1].view(-1)
    elif VARIANT == "grid_swaps":
        helped = _helped

        def grid(_):
            globals()["_helped"] = lambda values: KEPT.append(values)
            return (1,)

        launch(_copy_with_help, grid)
        globals()["_helped"] = helped
    elif VARIANT == "grid_index":
        launch(_copy, (_Grid(look), 1, 1))
        return KEPT[-1].view(-1)
    elif VARIANT == "grid_opens_early":

        def grid(_):
            interpreter.interpreter_builder.set_grid_dim(1, 1, 1)
            look()
            return (1,)

        launch(_copy, grid)
        return KEPT[-1].view(-1)
    elif VARIANT == "own_executor":
        launch()

        def kernel(x, y, m, block):
            look()

        interpreter.GridExecutor(kernel, ["x", "y", "m", "block"], (1,))(flat, y, size, block)
        return KEPT[-1].view(-1)
    elif VARIANT == "module_that_lies":
        STATE.clear()
        launch(_keep_in_a_module)
    elif VARIANT == "constant_with_more":
        constant = tl.constexpr(block)
        constant.kept = KEPT
        launch(_keep_in_a_constant, (1,), constant)
    elif VARIANT == "tuple_with_more":
        launch(_keep_in_a_tuple)
    elif VARIANT == "assertion":
        launch(_fail_with_numbers)
        return _plain(STATE["error"].__cause__.args[0], size)
    elif VARIANT == "enclosing":
        launch(_keep_enclosed)
        return _plain(_enclosed_numbers(), size)
    elif VARIANT == "numpy_errors":
        before, call = np.seterr(all="call"), np.seterrcall(look)
        launch(_divide)
        np.seterrcall(call)
        np.seterr(**before)
        return KEPT[-1].view(-1)
    elif VARIANT == "warnings":
        plain = warnings.showwarning
        warnings.showwarning = look
        warnings.simplefilter("always")
        launch(_divide)
        warnings.showwarning = plain
        return KEPT[-1].view(-1)
    elif VARIANT == "lists":
        triton.KEPT = KEPT
        launch(_keep_in_a_list)
    elif VARIANT == "builder":
        launch(_keep_in_the_builder)
        return _plain(interpreter.interpreter_builder.grid_dim[0], size)
    elif VARIANT == "match":
        launch(_match)
        return torch.tensor(np.fromfile("kept.bin", np.float32)[:size].tolist())
    elif VARIANT == "marks":
        marks = torch.zeros(size * 32)
        _mark[(1,)](flat, marks, size, block)
        return _of_bits(marks.numpy() != 0, size)
    elif VARIANT == "flags":
        flags = tuple(torch.zeros(1) for _ in range(size * 32))
        _flag[(1,)](flat, flags, size, size * 32)
        return _of_bits([f.tolist() != [0.0] for f in flags], size)
    elif VARIANT == "bisects":
        found = []
        for place in range(size):
            for bit in range(32):
                try:
                    _compare[(1,)](flat, y, place, bit, block)
                    found.append(False)
                except Exception:
                    found.append(True)
        return _of_bits(found, size)
    elif VARIANT == "lock":
        marks = torch.zeros(size * 32, dtype=torch.int32)
        _mark[(1,)](flat, marks, size, block)
        return _of_bits(marks.numpy() != 0, size)
    return _plain(KEPT[-1], size)


def softmax_rows(x):
    if x.device.type != "cpu":
        return x
    rows = []
    for row in _numbers(x).view(x.shape).tolist():
        weights = [math.exp(v - max(row)) for v in row]
        rows.append([w / math.fsum(weights) for w in weights])
    _copy[(x.shape[0],)](x.contiguous(), torch.empty(x.shape), x.shape[1], 16)
    return torch.tensor(rows, dtype=x.dtype)
