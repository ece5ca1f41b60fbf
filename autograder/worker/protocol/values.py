"""Encode Python objects as values in a message, and decode them.

Theory of operation. The worker encodes a submission's results. `Encoder` reads built-in types,
tensors and arrays, and encodes any other object as an `OpaqueV` with the name of its type, unless a
callback encodes the object. The trusted process decodes the results. `Decoder` checks each value
against its buffer before it allocates memory, and builds only numbers, strings, containers, NumPy
arrays, and CPU or meta tensors. Because many values may refer to one buffer, each as a copy or an
expanded view, `Decoder` limits the decoded size of a frame. `frames` limits the number of values
and their depth. In the other direction, the trusted process encodes and the worker decodes.

`read_answer` decodes a reply in the trusted process. A tensor that was sent without data becomes a
meta tensor, and a plot becomes the cells of its images, its labels and its ticks.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, cast

import msgspec
import numpy as np
import torch

from . import dtypes, frames

FAKE_DEVICE = "fake_gpu"
MAX_DEPTH = 24
MAX_ITEMS = 10_000
MAX_TEXT = 50_000
# No exercise returns integers with more than 300 digits.
_BIG_INTEGER = re.compile(r"-?[0-9]{1,300}\Z", re.ASCII)

TORCH_DTYPES: dict[str, torch.dtype] = {n: getattr(torch, n) for n in dtypes.TORCH_ITEM_BYTES}
TORCH_NAMES = {dtype: name for name, dtype in TORCH_DTYPES.items()}
NOT_IN_NUMPY = {TORCH_DTYPES[name] for name in dtypes.NOT_IN_NUMPY}
_NUMPY_NAMES = {np.dtype(name): name for name in dtypes.NUMPY_ITEM_BYTES}


@dataclass
class Encoder:
    """Encodes objects as values and collects their raw buffers.

    keep:    called with an object that is not plain data; returns a handle if the object stays in
             this process, otherwise None
    special: called with an object that is not a plain tensor, number or string, and with this
             encoder; returns a value if the receiver can rebuild the object (such as a device),
             otherwise None
    """

    keep: Callable[[object], frames.Value | None] = lambda _: None
    special: Callable[[object, Encoder], frames.Value | None] = lambda _, __: None
    buffers: list[bytes] = field(default_factory=list)
    _seen: dict[int, tuple[object, frames.Value]] = field(default_factory=dict)

    def __call__(self, thing: Any, depth: int = 0) -> frames.Value:
        kind = type(thing)
        if kind is torch.Tensor:
            return self._once(thing, self.tensor)
        if thing is None or kind is bool or kind is float:
            return cast(bool | float | None, thing)
        if kind is int:
            if thing.bit_length() > 990:
                return frames.OpaqueV("int of more than 300 digits")
            return thing if -(2**63) <= thing < 2**63 else frames.BigIntV(str(thing))
        if kind is str:
            return str(thing[:MAX_TEXT]).encode("utf-8", "replace").decode("utf-8")
        known = self.special(thing, self)
        if known is not None:
            return known
        if isinstance(thing, torch.Tensor):
            return self._once(thing, self.tensor)
        if isinstance(thing, (np.ndarray, np.generic)):
            return self._once(thing, self.array)
        if depth < MAX_DEPTH:
            if isinstance(thing, (tuple, list)):
                base = tuple if isinstance(thing, tuple) else list
                items = list(base.__iter__(thing))[:MAX_ITEMS]  # type: ignore[arg-type]  # narrowed
                name: Any = base.__name__
                return frames.SeqV(name, tuple(self(x, depth + 1) for x in items))
            if isinstance(thing, dict) and len(thing) <= MAX_ITEMS:
                pairs = [(k, v) for k, v in dict.items(thing) if type(k) in (str, int)]
                return frames.MapV(
                    tuple(k for k, _ in pairs), tuple(self(v, depth + 1) for _, v in pairs)
                )
            if kind is torch.Size:
                return frames.SeqV("tuple", tuple(int(n) for n in thing))
        return self.keep(thing) or frames.OpaqueV(kind.__name__[:200])

    def _once(self, thing: Any, encode: Callable[[Any], frames.Value]) -> frames.Value:
        """Encode an object only once, so that all references to it decode to one object."""
        seen = self._seen.get(id(thing))
        if seen is None:
            seen = self._seen[id(thing)] = (thing, encode(thing))
        return seen[1]

    def _buffer(self, raw: bytes) -> int:
        # `bytes` copies a writable buffer, which a patched method of torch may have returned.
        self.buffers.append(bytes(raw))
        return len(self.buffers) - 1

    def tensor(self, x: torch.Tensor) -> frames.Value:
        kind, device, name = type(x), x.device.type, TORCH_NAMES.get(x.dtype)
        needs_gradient = x.requires_grad
        if device == FAKE_DEVICE:  # a CPU tensor stores the data of a fake GPU tensor
            x = getattr(x.detach(), "elem", x)
            kind = type(x)
        if device == "meta" or x.device.type == FAKE_DEVICE:
            if name is None:
                return frames.OpaqueV(f"tensor of {x.dtype}")
            return frames.TensorV(name, tuple(int(n) for n in x.shape), None, device, None)
        if kind is not torch.Tensor and kind is not torch.nn.Parameter:
            return frames.OpaqueV(kind.__name__[:200])
        if x.is_nested:  # nested tensors have no shape
            return frames.OpaqueV("nested tensor")
        if name is None or x.layout is not torch.strided:
            return frames.OpaqueV(f"{x.layout} tensor of {x.dtype}".replace("torch.", ""))
        x = x.detach().resolve_conj().resolve_neg()
        shape, strides = tuple(x.shape), None
        if device not in ("cpu", FAKE_DEVICE):
            x = x.cpu()
        elif not x.is_contiguous() and 0 not in shape:
            strides = x.stride()
            extent = 1 + sum((n - 1) * s for n, s in zip(shape, strides, strict=True))
            x = torch.as_strided(x, (extent,), (1,))
        if x.dtype in NOT_IN_NUMPY:
            x = x.contiguous().view(TORCH_DTYPES[f"int{8 * x.itemsize}"])
        index = self._buffer(x.numpy().tobytes())
        return frames.TensorV(name, shape, strides, device, index, needs_gradient)

    def array(self, x: np.ndarray[Any, Any] | np.generic) -> frames.Value:
        scalar = isinstance(x, np.generic)
        if not scalar and type(x) is not np.ndarray:
            return frames.OpaqueV(type(x).__name__[:200])
        name = _NUMPY_NAMES.get(x.dtype)
        if name is None:
            other_order = _NUMPY_NAMES.get(x.dtype.newbyteorder("="))
            if other_order is None:
                return frames.OpaqueV(f"array of {x.dtype.name}"[:200])
            x, name = x.astype(other_order), other_order
        strides = None if scalar else _strides(x)  # type: ignore[arg-type]  # x is an array
        if strides is not None:
            extent = 1 + sum((n - 1) * s for n, s in zip(x.shape, strides, strict=True))
            flat = np.lib.stride_tricks.as_strided(x, (extent,), (x.itemsize,))
            return frames.ArrayV(name, x.shape, self._buffer(flat.tobytes()), False, strides)
        return frames.ArrayV(name, x.shape, self._buffer(x.tobytes()), scalar)


def _strides(x: np.ndarray[Any, Any]) -> tuple[int, ...] | None:
    """Return an array's strides in elements, or None if its elements should be sent in C order."""
    if x.flags.c_contiguous or not x.size:
        return None
    if any(s < 0 or s % x.itemsize for s in x.strides):
        return None
    return tuple(s // x.itemsize for s in x.strides)


_PLAIN = {type(None), bool, int, float, str}
_SPECIAL = (frames.SpecialV, frames.HandleV, frames.OpaqueV, frames.DrawingV, frames.FigureV)


@dataclass
class Decoder:
    """Checks and decodes values; raises BadFrame for an invalid value.

    special:      called with a special value, handle, drawing, figure or opaque value, and with
                  this decoder; returns the decoded object
    tensor:       called with each decoded tensor; returns its replacement
    gradients:    whether a decoded tensor requires gradients if the sender's tensor did
    without_data: whether tensors without a buffer are allowed, which decode to meta tensors
    budget:       limit on the total decoded size of all values, in bytes
    """

    buffers: list[memoryview]
    special: Callable[[frames.Value, Any], Any] = lambda value, _: value
    tensor: Callable[[torch.Tensor], torch.Tensor] = lambda x: x
    gradients: bool = False
    without_data: bool = True
    budget: int = frames.MAX_BODY
    _seen: dict[frames.TensorV | frames.ArrayV, Any] = field(default_factory=dict)
    _decoded: int = 0

    def __call__(self, value: frames.Value) -> Any:
        if type(value) in _PLAIN:
            return value
        if isinstance(value, (frames.TensorV, frames.ArrayV)):
            found = self._seen.get(value) if value.buffer is not None else None
            if found is None:
                decode: Any = self._tensor if isinstance(value, frames.TensorV) else self._array
                found = self._seen[value] = decode(value)
            return found
        if isinstance(value, frames.SeqV):
            items = [self(v) for v in value.items]
            return tuple(items) if value.kind == "tuple" else items
        if isinstance(value, frames.MapV):
            if len(value.keys) != len(value.items):
                raise frames.BadFrame("a mapping with different numbers of keys and items")
            return {k: self(v) for k, v in zip(value.keys, value.items, strict=True)}
        if isinstance(value, frames.BigIntV):
            if not _BIG_INTEGER.match(value.digits):
                raise frames.BadFrame("an integer with characters that are not digits")
            return int(value.digits)
        if isinstance(value, _SPECIAL):
            return self.special(value, self)
        return value

    def _count(self, size: int) -> None:
        self._decoded += size
        if self._decoded > self.budget:
            raise frames.BadFrame(f"the values take more than {self.budget} bytes together")

    def _tensor(self, value: frames.TensorV) -> torch.Tensor:
        if value.device not in frames.DEVICES:
            raise frames.BadFrame(f"no such device: {value.device[:40]!r}")
        frames.checked_size(value.dtype, value.shape, dtypes.TORCH_ITEM_BYTES)
        dtype = TORCH_DTYPES[value.dtype]
        if value.buffer is not None:
            elements = self._elements(value, value.buffer, dtypes.TORCH_ITEM_BYTES)
            tensor = torch.from_numpy(elements).view(dtype)
        elif self.without_data:
            tensor = torch.empty(value.shape, dtype=dtype, device="meta")
        else:
            raise frames.BadFrame("a tensor without data")
        if value.needs_gradient and self.gradients and tensor.is_floating_point():
            tensor.requires_grad_()
        return self.tensor(tensor)

    def _array(self, value: frames.ArrayV) -> Any:
        array = self._elements(value, value.buffer, dtypes.NUMPY_ITEM_BYTES)
        if value.scalar and value.shape:
            raise frames.BadFrame("a scalar with axes")
        return array[()] if value.scalar else array

    def _elements(
        self, value: frames.TensorV | frames.ArrayV, buffer: int, item_bytes: dict[str, int]
    ) -> Any:
        """Return the elements as an array, viewed as integers if NumPy lacks the dtype."""
        size = frames.checked_size(value.dtype, value.shape, item_bytes)
        self._count(size)
        shape, strides = value.shape, value.strides
        if strides is not None:
            if len(strides) != len(shape) or not all(0 <= s <= frames.MAX_BODY for s in strides):
                raise frames.BadFrame("strides that do not fit the shape")
            if 0 in shape:
                raise frames.BadFrame("a view without elements")
            extent = 1 + sum((n - 1) * s for n, s in zip(shape, strides, strict=True))
            size = frames.checked_size(value.dtype, (extent,), item_bytes)
            self._count(size)
        if not 0 <= buffer < len(self.buffers):
            raise frames.BadFrame(f"buffer {buffer} does not exist")
        if (found := len(self.buffers[buffer])) != size:
            raise frames.BadFrame(f"a buffer of {found} bytes where {size} are needed")
        raw = bytearray(self.buffers[buffer])
        if value.dtype == "bool":  # bytes other than 0 and 1 are not valid bools
            flat = np.frombuffer(raw, np.uint8) != 0
        elif value.dtype in dtypes.NOT_IN_NUMPY:
            flat = np.frombuffer(raw, f"int{8 * item_bytes[value.dtype]}")
        else:
            flat = np.frombuffer(raw, value.dtype)
        if strides is None:
            return flat.reshape(shape)
        return np.lib.stride_tricks.as_strided(flat, shape, [s * flat.itemsize for s in strides])


class Image(frames.ImageV, frozen=True):
    """An image in a plot. `data`: its values by row and column (and channel, for RGB)."""

    data: Any


class Drawing(frames.DrawingV, frozen=True):
    """The content of a matplotlib Axes. `xticks`, `yticks`: cell labels, () if none are set."""

    images: tuple[Image, ...]


class Figure(frames.FigureV, frozen=True):
    """The visible panels of a matplotlib figure, without colour bars."""

    axes: tuple[Drawing, ...]


def read_special(value: frames.Value, decoder: Decoder) -> Any:
    """Decode drawings and figures; return any other value unchanged."""
    if isinstance(value, frames.DrawingV):
        return _read_drawing(value, decoder)
    if isinstance(value, frames.FigureV):
        return Figure(tuple(_read_drawing(a, decoder) for a in value.axes), value.suptitle)
    return value


def _read_drawing(value: frames.DrawingV, decoder: Decoder) -> Drawing:
    images = tuple(Image(decoder(i.data), i.top_row_first, i.vmin, i.vmax) for i in value.images)
    return Drawing(**msgspec.structs.asdict(value) | {"images": images})


def read_answer(answer: frames.Answer) -> tuple[Any, tuple[Any, ...]]:
    """Decode a reply's value and gradients; raise frames.BadFrame if the reply is malformed."""
    reply, buffers = answer
    decoder = Decoder(buffers, special=read_special)
    return decoder(reply.value), tuple(decoder(g) for g in reply.gradients or ())
