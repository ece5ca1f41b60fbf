"""Check properties of results and plots, and create arguments that only a worker can build.

Messages never quote the student's labels, because a label could contain a hidden input. Details of
a difference, such as the panel and wrong sizes, are charged to the message's leak budget.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from msgspec.structs import replace

from ...worker.protocol.values import Drawing, Figure, Image
from ..comparator import CELLS, Tolerance, as_tensor, close, is_array, largest_entry, rounding_of
from ..disclosure.leak_budget import DRAWINGS, MessageBudget, few, rough, shape
from ..outcomes import Flaw, GraderFault, Wrong
from .case import Special

NEW_AXES = Special("axes", None)
_LARGEST_COUNT = 999  # messages do not state larger numbers of entries exactly


def generator_seed(seed: int) -> Special:
    """Return an argument that the worker replaces with a torch.Generator on the test's device."""
    return Special("generator", seed)


def once(items: Sequence[torch.Tensor]) -> Special:
    """Return an argument that the worker replaces with an iterator over the items."""
    return Special("once", list(items))


def function(expression: str) -> Special:
    """Return an argument that the worker replaces with a function, such as "lambda x: 2 * x"."""
    return Special("expression", expression.strip())


def generator(expression: str) -> Special:
    """Return an argument that the worker replaces with a generator, such as "(n for n in [1])"."""
    return Special("expression", expression.strip())


def torch_mha(
    embed_dim: int, num_heads: int, bias: bool = True, *, state: Mapping[str, torch.Tensor]
) -> Special:
    """Return an argument that the worker replaces with a batch-first nn.MultiheadAttention.

    state: the state dict of the module
    """
    content = {"embed_dim": embed_dim, "num_heads": num_heads, "bias": bias, "state": dict(state)}
    return Special("torch_mha", content)


@dataclass(frozen=True)
class HuggingFaceEncoder:
    """A small BERT and its tokenizer, as arguments of a call."""

    model: Special
    tokenizer: Special


def hf_encoder(
    *,
    seed: int,
    vocabulary: Sequence[str],
    layers: int = 2,
    heads: int = 2,
    hidden: int = 16,
    training: bool = False,
    attention: str = "sdpa",
    dtype: str = "float32",
) -> HuggingFaceEncoder:
    """Return two arguments that the worker replaces with a small BERT and its tokenizer.

    seed:       the seed of the weights, which are the same in every call
    vocabulary: lower-case words and word pieces ("##s")
    training:   whether the model is in training mode when the call begins
    attention:  the attention implementation of the model when the call begins
    """
    content = {
        "seed": seed,
        "vocabulary": list(vocabulary),
        "layers": layers,
        "heads": heads,
        "hidden": hidden,
        "training": training,
        "attention": attention,
        "dtype": dtype,
    }
    parts = (Special("hf_encoder", content | {"part": part}) for part in ("model", "tokenizer"))
    return HuggingFaceEncoder(*parts)


def expect(condition: object, message: str) -> None:
    """Fail the test with this message if the condition is false.

    The message must not reveal hidden inputs.
    """
    if isinstance(condition, str) or not isinstance(message, str):
        raise GraderFault("expect takes a condition, and then the message for when it is false")
    if not bool(condition):
        raise Wrong(message)


def all_finite(x: Any, what: str = "The result") -> None:
    """Check that no entry is NaN or infinite."""
    tensor = _tensor(x, what).to(torch.complex128)  # torch lacks `isfinite` for float8
    bad = int((~torch.isfinite(tensor)).sum())
    if bad:
        raise Wrong(f"{what} has {few(bad, _LARGEST_COUNT)} entries that are NaN or infinite.")


def rows_sum_to_one(weights: Any, dim: int = -1) -> None:
    """Check that floating-point weights sum to 1 along the axis `dim`, up to rounding."""
    tensor = _tensor(weights, "The weights")
    if not tensor.is_floating_point():
        dtype = str(tensor.dtype).removeprefix("torch.")
        raise Wrong(f"The weights should be floating-point numbers, but are {dtype}.")
    if not -tensor.ndim <= dim < tensor.ndim:
        raise Wrong(f"The weights should have more than {few(tensor.ndim)} axes.")
    sums = tensor.double().sum(dim)
    if not close(sums, torch.ones_like(sums), Tolerance(rounding_of(tensor.dtype))):
        worst = sums.flatten()[(sums - 1).abs().flatten().argmax()]
        raise Wrong(f"Rows of weights should sum to 1, but one sums to {rough(float(worst))}.")


def zero_where(weights: Any, hidden: torch.Tensor) -> None:
    """Check that entries are exactly zero where the mask `hidden` is True."""
    tensor = _tensor(weights, "The weights")
    try:
        mask = hidden.expand_as(tensor)
    except RuntimeError:
        raise Wrong("The weights do not have the shape of their mask.") from None
    count = few(int((tensor[mask] != 0).sum()), _LARGEST_COUNT)
    if count != "0":
        raise Wrong(f"Masked entries should be exactly zero, but {count} of them are not.")


def same(a: Any, b: Any, message: str) -> None:
    """Check that two results are equal up to a few rounding errors of the more precise dtype."""
    first, second = _tensor(a, "The result"), _tensor(b, "The result")
    if first.shape != second.shape or first.is_complex() != second.is_complex():
        raise Wrong(message)
    rounding = min(rounding_of(first.dtype), rounding_of(second.dtype))
    if not close(first, second, Tolerance(rounding * max(1.0, largest_entry(second)))):
        raise Wrong(message)


def growth_exponent(sizes: Mapping[int, Any], of: str = "largest") -> float:
    """Fit cost ~ size^p to at least two costs, and return the exponent p.

    sizes: maps each size to its cost, which is a number or a Counted
    of:    the attribute of a Counted to use as the cost
    """
    if len(sizes) < 2:
        raise GraderFault("growth_exponent needs the cost at two sizes at least")
    points = sorted((n, float(getattr(c, of, c))) for n, c in sizes.items())
    x = np.log([n for n, _ in points])
    y = np.log([max(c, 1.0) for _, c in points])
    slope = float(np.polyfit(x, y, 1)[0])
    return slope if math.isfinite(slope) else math.inf


def _tensor(x: Any, what: str) -> torch.Tensor:
    """Convert a student's result to a tensor; raise Wrong if it is not an array or has no data."""
    if not is_array(x):
        raise Wrong(f"{what} should be a tensor, but is {type(x).__name__}.", Flaw.KIND)
    tensor = as_tensor(x)
    if tensor.is_meta:
        raise Wrong(f"{what} has no data.")
    return tensor


def compare_figure(actual: Any, expected: Figure, subject: str = "The figure") -> None:
    """Raise Wrong if a figure's panels differ from the expected ones in number or content."""
    if not isinstance(actual, Figure):
        raise Wrong(f"{subject} should be a matplotlib Figure.", Flaw.KIND)
    budget, count = MessageBudget(DRAWINGS * len(expected.axes)), len(expected.axes)
    if len(actual.axes) != count:
        has = few(len(actual.axes), budget=budget)
        raise Wrong(f"{subject} should have {count} panels, but has {has}.", Flaw.KIND)
    for number, (mine, wanted) in enumerate(zip(actual.axes, expected.axes, strict=True)):
        compare_drawing(mine, wanted, f"Panel {number + 1}", budget)


def compare_drawing(
    actual: Any,
    expected: Drawing,
    subject: str = "The drawing",
    budget: MessageBudget | None = None,
) -> None:
    """Raise Wrong if the orientation, cells, colours, labels, ticks or Axes of a drawing differ."""
    budget, count = budget or MessageBudget(DRAWINGS), len(expected.images)
    if not isinstance(actual, Drawing):
        raise Wrong(f"{subject} should be a matplotlib Axes.", Flaw.KIND)
    if len(actual.images) != count:
        has = few(len(actual.images), budget=budget)
        raise Wrong(f"{subject} should contain {count} image, but contains {has}.", Flaw.KIND)
    actual = _with_first_row_on_top(actual, expected)
    for mine, wanted in zip(actual.images, expected.images, strict=True):
        _compare_image(mine, wanted, subject, budget)
    _compare_label(subject, "x label", actual.xlabel, expected.xlabel)
    _compare_label(subject, "y label", actual.ylabel, expected.ylabel)
    if expected.title:
        _compare_label(subject, "title", actual.title, expected.title)
    for axis in ("x", "y"):
        wanted = getattr(expected, f"{axis}ticks")
        if wanted and getattr(actual, f"{axis}ticks") != wanted:
            raise Wrong(
                f"{subject}: label each cell of the {axis} axis with its token.", Flaw.DRAWN
            )
    if actual.same_axes != expected.same_axes:
        raise Wrong(
            f"{subject} should be made on the Axes passed in; return that Axes.", Flaw.DRAWN
        )


def _with_first_row_on_top(mine: Drawing, wanted: Drawing) -> Drawing:
    """Flip a drawing whose rows and vertical axis are both reversed; return any other unchanged."""
    pairs = list(zip(mine.images, wanted.images, strict=True))
    if any(x.top_row_first or not _is_upside_down(x, y) for x, y in pairs):
        return mine
    turned = (replace(i, data=i.data[::-1], top_row_first=True) for i in mine.images)
    return replace(mine, images=tuple(turned), yticks=mine.yticks[::-1])


def _is_upside_down(mine: Image, wanted: Image) -> bool:
    return mine.data.shape == wanted.data.shape and close(mine.data[::-1], wanted.data, CELLS)


def _compare_label(subject: str, label: str, actual: str, expected: str) -> None:
    if actual.strip() != expected:
        has = "different" if actual.strip() else "empty"
        raise Wrong(f"{subject}: the {label} should be {expected!r}, but is {has}.", Flaw.DRAWN)


def _compare_image(mine: Image, wanted: Image, subject: str, budget: MessageBudget) -> None:
    if not mine.top_row_first:
        raise Wrong(f"{subject}: put the first query at the top; its rows run upwards.", Flaw.DRAWN)
    a, b = mine.data, wanted.data
    if a.shape != b.shape:
        swapped = " Rows are queries, columns are keys." if a.shape == b.shape[::-1] else ""
        shows = shape(a.shape, b.shape, budget)
        raise Wrong(
            f"{subject} should show {b.shape} cells, but shows {shows}.{swapped}", Flaw.KIND
        )
    if not close(a, b, CELLS):
        if close(a.T, b, CELLS):
            raise Wrong(f"{subject} is transposed: rows are queries, columns are keys.", Flaw.DRAWN)
        if _is_upside_down(mine, wanted):
            raise Wrong(
                f"{subject} is upside down: the first query belongs at the top.", Flaw.DRAWN
            )
        raise Wrong(
            f"{subject} should show the weights unchanged, but the values differ.", Flaw.VALUE
        )
    if (mine.vmin, mine.vmax) != (wanted.vmin, wanted.vmax):
        raise Wrong(
            f"{subject}: the colours should run from {wanted.vmin:g} to {wanted.vmax:g}, "
            "for any weights.",
            Flaw.DRAWN,
        )
