"""Line 36. Passes a kernel arguments, names or a grid that run Python code, or record data.

Week: week09_kernels
Variants: annotation argument_names subclass wrapper descriptor constant named_tuple enumeration size_of_grid shape_of_values attribute_of_a_type text_of_a_kernel alias_of_launch formatted looped
Expected: softmax_rows=wrong|crashed|timeout
Score at most: softmax_rows=2
Fails: test_values, test_strides, test_any_order
"""

import enum
import math
import typing

import numpy as np

KEPT = []
LOOKS = []


def _look(*_, **__):
    for x in LOOKS:
        KEPT.append(x.clone())


class _Kind(str):
    def __eq__(self, other):
        _look()
        return False

    __hash__ = str.__hash__


class _Name(str):
    def __hash__(self):
        _look()
        return str.__hash__(self)


class _Tensor(torch.Tensor):
    def data_ptr(self):
        vars(tl)["loa" + "d"] = _watched(tl.load)
        return super().data_ptr()


def _watched(plain):
    return lambda *a, **k: _look() or plain(*a, **k)


class _Pair(typing.NamedTuple):
    size: int
    more: int

    def keep(self, values):
        KEPT.append(values)


class _Number(enum.IntEnum):
    ONE = 1

    @property
    def twice(self):
        _look()
        return 2


PAIR = _Pair(1, 2)


class _Grid(tuple):
    def __getitem__(self, at):
        _look()
        return super().__getitem__(at)

    def __add__(self, other):
        return self

    def __len__(self):
        return 3


@triton.jit
def _copy(x, y, m, block: tl.constexpr):
    columns = tl.arange(0, block)
    tl.store(y + columns, tl.load(x + columns, columns < m, other=0.0), columns < m)


@triton.jit
def _copy_annotated(x: _Kind("*fp32"), y, m, block: tl.constexpr):
    columns = tl.arange(0, block)
    tl.store(y + columns, tl.load(x + columns, columns < m, other=0.0), columns < m)


@triton.jit
def _keep_in_a_pair(x, y, m, block: tl.constexpr):
    PAIR.keep(tl.load(x + tl.arange(0, block), tl.arange(0, block) < m, other=0.0))


@triton.jit
def _ask_a_number(x, y, m, block: tl.constexpr, number: tl.constexpr):
    columns = tl.arange(0, block)
    tl.store(y + columns, tl.load(x + columns, columns < m, other=0.0) * number.twice)


@triton.jit
def _keep_in_a_shape(x, y, m, block: tl.constexpr):
    values = tl.load(x + tl.arange(0, block), tl.arange(0, block) < m, other=0.0)
    values.shape.values.append(values)


@triton.jit
def _keep_in_a_type(x, y, m, block: tl.constexpr):
    values = tl.load(x + tl.arange(0, block), tl.arange(0, block) < m, other=0.0)
    values.dtype.scalar.kept(values)


@triton.jit
def _format(x, y, m, block: tl.constexpr):
    values = tl.load(x + tl.arange(0, block), tl.arange(0, block) < m, other=0.0)
    tl.static_assert(False, f"{values}")


@triton.jit
def _loop(x, y, m, block: tl.constexpr):
    for i in range(m):
        value = tl.load(x + i).to(tl.float32)
        tl.device_assert(value < -100.0, "%s" % value)


def _numbers(x):
    flat = x.contiguous().view(1, -1)
    y, size = torch.zeros_like(flat), flat.numel()
    block, interpreter = triton.next_power_of_2(size), triton.runtime.interpreter
    KEPT.clear()
    LOOKS[:] = [flat]
    said = []

    def launch(kernel, *more, grid=(1,), first=flat):
        try:
            kernel[grid](first, y, size, *(more or (block,)))
        except Exception as error:
            said.append(str(error))

    if VARIANT == "annotation":
        launch(_copy_annotated)
    elif VARIANT == "argument_names":
        plain, _copy.arg_names = _copy.arg_names, list(map(_Name, _copy.arg_names))
        launch(_copy)
        _copy.arg_names = plain
    elif VARIANT == "subclass":
        launch(_copy, first=flat.as_subclass(_Tensor))
    elif VARIANT == "wrapper":
        wrapped = triton.reinterpret(flat, tl.float32)
        wrapped.data_ptr = lambda: _look() or flat.data_ptr()
        launch(_copy, first=wrapped)
    elif VARIANT == "descriptor":
        from triton.tools.tensor_descriptor import TensorDescriptor

        described = TensorDescriptor.from_tensor(torch.zeros(1, 16), [1, 16])
        described.kept = KEPT
        launch(_copy, block, grid=(1,), first=described)
    elif VARIANT == "constant":
        constant = tl.constexpr(block)
        constant.__dict__["_value_"] = KEPT
        launch(_copy, constant)
    elif VARIANT == "named_tuple":
        launch(_keep_in_a_pair)
    elif VARIANT == "enumeration":
        launch(_ask_a_number, block, _Number.ONE)
    elif VARIANT == "size_of_grid":
        launch(_copy, grid=_Grid((1, 1, 1)))
    elif VARIANT == "shape_of_values":
        launch(_keep_in_a_shape)
        again = tl.tensor(interpreter.TensorHandle(np.zeros(block), tl.float32), tl.block_type(tl.float32, [block]))
        KEPT.extend(again.shape.values[1:])
    elif VARIANT == "attribute_of_a_type":
        tl.float32.kept = tl.float16.kept = KEPT.append
        launch(_keep_in_a_type)
        del tl.float32.kept, tl.float16.kept
    elif VARIANT == "text_of_a_kernel":
        known = interpreter.InterpretedFunction.rewritten_fn
        plain = known.get(_copy.fn)
        known[_copy.fn] = lambda x, y, m, block: KEPT.append(tl.load(x + tl.arange(0, block)))
        launch(_copy)
        known[_copy.fn] = plain if plain is not None else known.pop(_copy.fn)
    elif VARIANT == "alias_of_launch":
        run = type(_copy).run
        run(_copy, flat, y, size, block, grid=lambda m: _look() or (1,), warmup=False)
    elif VARIANT == "formatted":
        launch(_format)
        found = [float(n) for n in said[0].replace("[", " ").replace("]", " ").split() if n[-1:].isdigit()]
        return torch.tensor(found[:size])
    elif VARIANT == "looped":
        launch(_loop)
        return torch.tensor([float(said[0].split()[-1].strip("[]'\")"))] * size)
    values = KEPT[-1]
    data = values if isinstance(values, torch.Tensor) else values.handle.data
    return torch.tensor(np.asarray(data).ravel()[:size].tolist())


def softmax_rows(x):
    if x.device.type != "cpu":
        return x
    rows = []
    for row in _numbers(x).view(x.shape).tolist():
        weights = [math.exp(v - max(row)) for v in row]
        rows.append([w / math.fsum(weights) for w in weights])
    return torch.tensor(rows, dtype=x.dtype)
