"""Describe the visible content of matplotlib figures as plain data."""

import math
from typing import Any

import numpy as np

from ..protocol import frames
from ..protocol.values import Encoder

MAX_LABEL = 500
MAX_AXES = 64
MAX_IMAGES = 16


def describe(result: Any, encoder: Encoder, given: list[Any]) -> frames.Value:
    """Describe an Axes, a Figure or a list of 1 to MAX_AXES Axes; return None for other objects.

    given: Axes that were passed to the call (`DrawingV.same_axes`)
    """
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    if isinstance(result, Axes):
        return describe_axes(result, encoder, given)
    if isinstance(result, Figure):
        return describe_figure(result, encoder, given)
    if not isinstance(result, list) or not 0 < len(result) <= MAX_AXES:
        return None
    if not all(isinstance(x, Axes) for x in result):
        return None
    return frames.SeqV("list", tuple(describe_axes(x, encoder, given) for x in result))


def describe_axes(axes: Any, encoder: Encoder, given: list[Any]) -> frames.DrawingV:
    """Describe the images, labels and ticks of an Axes; images have columns from left to right."""
    images = []
    shown = [*axes.get_images(), *(c for c in axes.collections if _is_mesh(c))]
    for image in shown[:MAX_IMAGES]:
        data = np.ma.filled(np.ma.asarray(image.get_array(), dtype=np.float64), np.nan)
        data, top_first = _flipped_for_reader(axes, image, data)
        low, high = image.get_clim()
        array = encoder(np.ascontiguousarray(data))
        assert isinstance(array, frames.ArrayV)
        images.append(frames.ImageV(array, top_first, _finite(low), _finite(high)))
    shape: tuple[int, ...] = np.shape(shown[0].get_array()) if shown else ()
    rows, columns = shape[:2] if len(shape) > 1 else (0, 0)
    return frames.DrawingV(
        images=tuple(images),
        xlabel=_text(axes.get_xlabel()),
        ylabel=_text(axes.get_ylabel()),
        title=_text(axes.get_title() or axes.get_title("left") or axes.get_title("right")),
        xticks=_ticks(axes.xaxis, columns),
        yticks=_ticks(axes.yaxis, rows),
        same_axes=any(axes is other for other in given),
    )


def describe_figure(figure: Any, encoder: Encoder, given: list[Any]) -> frames.FigureV:
    """Describe a figure's panels, including empty ones, but no colour bars or hidden axes."""
    visible = [a for a in figure.axes if a.get_visible() and (a.axison or a.get_images())]
    panels = [a for a in visible if not hasattr(a, "_colorbar") and a.get_label() != "<colorbar>"]
    described = tuple(describe_axes(a, encoder, given) for a in panels[:MAX_AXES])
    title = figure.get_suptitle() if hasattr(figure, "get_suptitle") else ""
    return frames.FigureV(described, _text(title))


def _is_mesh(collection: Any) -> bool:
    return type(collection).__name__ == "QuadMesh"


def _flipped_for_reader(axes: Any, image: Any, data: Any) -> tuple[Any, bool]:
    """Return the data with columns from left to right, and whether the first row is at the top."""
    if _is_mesh(image):
        return data[:, ::-1] if axes.xaxis_inverted() else data, bool(axes.yaxis_inverted())
    left, right, bottom, top = image.get_extent()
    rows_go_up = bottom > top if image.origin == "upper" else top > bottom
    top_first = rows_go_up == bool(axes.yaxis_inverted())
    if (right > left) == bool(axes.xaxis_inverted()):
        data = data[:, ::-1]
    return data, top_first


_SET_BY_HAND = ("FixedFormatter", "FuncFormatter", "StrCategoryFormatter")


def _ticks(axis: Any, count: int) -> tuple[str, ...]:
    """Return the tick label of each cell, or () if the submission has not set any label text.

    The centre of cell i is at i in an image and at i + 0.5 in a mesh; both round down to i.
    """
    formatter = axis.get_major_formatter()
    if type(formatter).__name__ not in _SET_BY_HAND:
        return ()
    # Ask the formatter for the labels, because `axis.get_ticklabels` would lay out the axis.
    locations = list(axis.get_majorticklocs())
    labels = [_text(label) for label in formatter.format_ticks(locations)]
    found: dict[int, str] = {}
    for location, label in zip(locations, labels, strict=False):
        cell = math.floor(location + 1e-6)
        if math.isfinite(location) and 0 <= cell < count and label:
            found.setdefault(cell, label)
    return tuple(found.get(i, "") for i in range(min(count, 500))) if found else ()


def _text(value: Any) -> str:
    return str(value)[:MAX_LABEL].encode("utf-8", "replace").decode("utf-8")


def _finite(value: Any) -> float | None:
    return float(value) if value is not None and math.isfinite(float(value)) else None
