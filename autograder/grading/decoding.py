"""Decode the replies of a target into Python values: tensors, arrays, containers and plots.

A tensor becomes a CPU tensor, or a meta tensor if it was sent without data. A plot becomes the
cells of its images, its labels and its ticks.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec

from ..worker.protocol import frames
from ..worker.protocol.frames import Answer
from ..worker.protocol.values import Decoder
from .outcomes import Outcome

Answers = Sequence[Answer | Outcome]


class Image(frames.ImageV, frozen=True):
    """An image in a plot. `data`: its values by row and column (and channel, for RGB)."""

    data: Any


class Drawing(frames.DrawingV, frozen=True):
    """The content of a matplotlib Axes. `xticks`, `yticks`: cell labels, () if none are set."""

    images: tuple[Image, ...]


class Figure(frames.FigureV, frozen=True):
    """The visible panels of a matplotlib figure, without colour bars."""

    axes: tuple[Drawing, ...]


def nested(values: Iterable[frames.Value]) -> Iterator[frames.Value]:
    """Yield each encoded value, followed by all values that are nested in it."""
    for value in values:
        yield value
        yield from nested(frames.inner_values(value))


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


def read_answer(answer: Answer) -> tuple[Any, tuple[Any, ...]]:
    """Decode a reply's value and gradients; raise frames.BadFrame if the reply is malformed."""
    reply, buffers = answer
    decoder = Decoder(buffers, special=read_special)
    return decoder(reply.value), tuple(decoder(g) for g in reply.gradients or ())
