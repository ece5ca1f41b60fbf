"""Answers of a target as Python values: tensors, arrays, containers, plots.

A tensor of the student's code arrives on the CPU. A plot arrives as the cells of its images, its
labels and its ticks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ..worker.protocol import frames
from ..worker.protocol.values import Decoder
from .outcomes import Outcome
from .targets.in_process import Answer

Answers = Sequence[Answer | Outcome]


@dataclass(frozen=True)
class Image:
    """An image in a plot: `data` (rows, columns), with its first row at the top if
    `top_row_first`, and the limits of its colour scale."""

    data: Any
    top_row_first: bool
    vmin: float | None
    vmax: float | None


@dataclass(frozen=True)
class Drawing:
    """The content of a matplotlib Axes. Ticks are the labels at the cells, in order."""

    images: tuple[Image, ...]
    xlabel: str
    ylabel: str
    title: str
    xticks: tuple[str, ...]
    yticks: tuple[str, ...]
    same_axes: bool


@dataclass(frozen=True)
class Figure:
    """The panels of a matplotlib figure, without colour bars."""

    axes: tuple[Drawing, ...]
    suptitle: str


def nested(values: Iterable[frames.Value]) -> Iterator[frames.Value]:
    """Yield encoded values, each followed by the values that it contains."""
    for value in values:
        yield value
        if isinstance(value, (frames.SeqV, frames.MapV)):
            yield from nested(value.items)
        elif isinstance(value, frames.SpecialV):
            yield from nested((value.value,))


def read_special(value: frames.Value, decoder: Decoder) -> Any:
    """Decode drawings and figures; return any other value unchanged."""
    if isinstance(value, frames.DrawingV):
        return _read_drawing(value, decoder)
    if isinstance(value, frames.FigureV):
        return Figure(tuple(_read_drawing(a, decoder) for a in value.axes), value.suptitle)
    return value


def _read_drawing(value: frames.DrawingV, decoder: Decoder) -> Drawing:
    images = tuple(Image(decoder(i.data), i.top_row_first, i.vmin, i.vmax) for i in value.images)
    texts = value.xlabel, value.ylabel, value.title
    return Drawing(images, *texts, value.xticks, value.yticks, value.same_axes)


def read_answer(answer: Answer) -> tuple[Any, tuple[Any, ...]]:
    """Decode the value and the gradients of an answer; raise frames.BadFrame if it is malformed."""
    reply, buffers = answer
    decoder = Decoder(buffers, special=read_special)
    return decoder(reply.value), tuple(decoder(g) for g in reply.gradients or ())
