"""The types of values in a message: numbers, strings, containers, tensors, arrays and drawings.

`values` converts Python objects to these types and back.
"""

from __future__ import annotations

from typing import Literal

import msgspec

DEVICES = ("cpu", "cuda", "fake_gpu", "meta", "mps", "xpu")


class _Node(
    msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True, tag_field="node"
):
    pass


class TensorV(_Node, frozen=True, tag="t"):
    """A torch tensor. `buffer`: index of the buffer with its data, or None without data."""

    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...] | None
    device: str
    buffer: int | None
    needs_gradient: bool = False


class ArrayV(_Node, frozen=True, tag="a"):
    """A NumPy array or scalar. `strides`: strides in elements, or None for C order."""

    dtype: str
    shape: tuple[int, ...]
    buffer: int
    scalar: bool
    strides: tuple[int, ...] | None = None


class SeqV(_Node, frozen=True, tag="s"):
    kind: Literal["tuple", "list"]
    items: tuple[Value, ...]


class MapV(_Node, frozen=True, tag="m"):
    keys: tuple[str | int, ...]
    items: tuple[Value, ...]


class BigIntV(_Node, frozen=True, tag="i"):
    """An integer that does not fit into 64 bits. `digits`: at most 300 decimal digits."""

    digits: str


class HandleV(_Node, frozen=True, tag="h"):
    """A reference to an object that stays in the worker.

    state: dtype and shape of each entry of a torch module's state dict, or None for other objects
    """

    id: int
    type: str
    state: dict[str, tuple[str, tuple[int, ...]]] | None


class ImageV(_Node, frozen=True, tag="im"):
    """An image in a drawing. `data`: array of its values, with columns from left to right."""

    data: ArrayV
    top_row_first: bool
    vmin: float | None
    vmax: float | None


class DrawingV(_Node, frozen=True, tag="d"):
    """The visible content of a matplotlib Axes. `same_axes`: whether it was passed to the call."""

    images: tuple[ImageV, ...]
    xlabel: str
    ylabel: str
    title: str
    xticks: tuple[str, ...]
    yticks: tuple[str, ...]
    same_axes: bool


class FigureV(_Node, frozen=True, tag="f"):
    axes: tuple[DrawingV, ...]
    suptitle: str


class SpecialV(_Node, frozen=True, tag="x"):
    """An object that the receiver builds, such as a device, an Axes, a generator or a module."""

    kind: Literal[
        "device",
        "dtype",
        "axes",
        "generator",
        "once",
        "slice",
        "expression",
        "torch_mha",
        "hf_encoder",
    ]
    value: Value


class OpaqueV(_Node, frozen=True, tag="o"):
    """An object that cannot be encoded. `type`: the name or a description of its type."""

    type: str


PlainData = bool | int | float | str | TensorV | ArrayV | SeqV | MapV | BigIntV | None
Value = PlainData | HandleV | DrawingV | FigureV | SpecialV | OpaqueV
