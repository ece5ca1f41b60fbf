"""Write results with few digits, and arguments as exact Python expressions."""

import itertools
import math
from typing import Any

import numpy as np
import torch

from ...worker.protocol import frames
from ...worker.protocol.values import Drawing, Figure
from ..comparator import as_tensor, is_array
from ..outcomes import printable

DIGITS = (2, 3, 4, 6, 9, 17)  # numbers of significant digits to try until two texts differ
MODULI = (2, 3, 5)
_LONG = 12  # entries of the longest array that is never written as a pattern
_LONGEST = 400  # characters of a text from the submission


# Results


def result_text(value: Any, digits: int) -> str:
    """Describe a decoded result in one line, with floats rounded to this many digits."""
    if is_array(value):
        x = as_tensor(value)
        value = f"shape {tuple(x.shape)}" if x.is_meta else x.tolist()
        return value if x.is_meta else result_text(value, digits)
    if isinstance(value, (tuple, list)):
        inner = ", ".join(result_text(v, digits) for v in value)
        return f"({inner})" if isinstance(value, tuple) else f"[{inner}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{k!r}: {result_text(v, digits)}' for k, v in value.items())}}}"
    if isinstance(value, (frames.HandleV, frames.OpaqueV)):
        return f"an object of type {printable(value.type)}"
    if isinstance(value, (Drawing, Figure)):
        return f"a matplotlib {'Axes' if isinstance(value, Drawing) else 'Figure'}"
    if isinstance(value, str):
        return printable(repr(value))[:_LONGEST]
    return number_text(value, digits) if isinstance(value, float) else repr(value)


def number_text(value: float, digits: int) -> str:
    """Round a float to significant digits: `0.27`, `1000`, `1e-09`, `nan`."""
    if not math.isfinite(value):
        return str(value)
    rounded = float(f"{value:.{digits}g}") + 0.0  # + 0.0 turns -0.0 into 0.0
    if rounded == 0 or 1e-4 <= abs(rounded) < 1e7:
        return np.format_float_positional(rounded, trim="-")
    return f"{rounded:.{digits}g}"


# Arguments


def float_literal(x: float, dtype: str = "float64") -> str:
    """Return the shortest Python text of a float of this dtype: `1.`, `0.25`, `-math.inf`."""
    if not math.isfinite(x):
        return "math.nan" if math.isnan(x) else "math.inf" if x > 0 else "-math.inf"
    text = np.format_float_positional(x if dtype == "float64" else np.float32(x), trim=".")
    return text if len(text) < 14 else repr(x)


def array_text(x: Any) -> str:
    """Return an expression of `torch` and `np` for an array with this dtype and layout."""
    if isinstance(x, np.generic):
        return f"np.{x.dtype.name}({_list(x.item(), x.dtype.name)})"
    is_torch = isinstance(x, torch.Tensor)
    t = x if is_torch else torch.from_numpy(x)
    if not t.is_contiguous():
        return _view_text(t) + ("" if is_torch else ".numpy()")
    pattern = pattern_text(x)
    if pattern is not None:
        return pattern[0]
    library, make, usual = (
        ("torch", "tensor", "float32") if is_torch else ("np", "array", "float64")
    )
    name = str(t.dtype).removeprefix("torch.")
    dtype = f", dtype={library}.{name}"
    flat, shape = t.flatten().tolist(), tuple(t.shape)
    sizes = ", ".join(map(str, shape)) if is_torch and shape else repr(shape)
    is_constant = len(flat) > max(2, t.ndim) and all(v == flat[0] for v in flat)
    if not flat or is_constant:
        kind = "" if name == usual else dtype
        if not flat or flat[0] in (0, 1):
            word = "ones" if flat and flat[0] else "zeros"
            return f"{library}.{word}({sizes}{kind})"
        kind = "" if name in (usual, "int64") else dtype
        return f"{library}.full({shape!r}, {_list(flat[0], name)}{kind})"
    kind = "" if name in (usual, "int64", "bool") else dtype
    return f"{library}.{make}({_list(t.tolist(), name)}{kind})"


def _list(value: Any, name: str) -> str:
    if isinstance(value, list):
        return f"[{', '.join(_list(v, name) for v in value)}]"
    return float_literal(value, name) if isinstance(value, float) else repr(value)


def storage(t: torch.Tensor) -> torch.Tensor:
    """Return the entries of a strided view in memory order, as a flat tensor."""
    extent = 1 + sum((n - 1) * s for n, s in zip(t.shape, t.stride(), strict=True))
    return torch.as_strided(t.detach(), (extent if t.numel() else 0,), (1,))


def transposed_axes(t: torch.Tensor) -> tuple[int, int] | None:
    """Return the two axes whose exchange makes a view contiguous, or None if there are none."""
    pairs = itertools.combinations(range(t.ndim), 2)
    return next((p for p in pairs if t.transpose(*p).is_contiguous()), None)


def _view_text(t: torch.Tensor) -> str:
    if (axes := transposed_axes(t)) is not None:
        swapped = "T" if t.ndim == 2 else "transpose({}, {})".format(*axes)
        return f"{array_text(t.transpose(*axes))}.{swapped}"
    shape, strides = tuple(t.shape), tuple(t.stride())
    return f"{array_text(storage(t).clone())}.as_strided({shape}, {strides})"


# Patterns


def counted(shape: tuple[int, ...], modulus: int) -> torch.Tensor:
    """Return the numbers 0, 1, … modulo a number, as int64."""
    return torch.arange(math.prod(shape)).reshape(shape) % modulus


def normal(shape: tuple[int, ...]) -> torch.Tensor:
    """Return normal entries in float32, drawn with seed 0."""
    return torch.randn(shape, generator=torch.Generator().manual_seed(0))


def pattern_text(x: Any) -> tuple[str, int] | None:
    """Return a short expression for a long array with a pattern, and how many numbers it has."""
    t = as_tensor(x)
    if t.numel() <= _LONG or bool((t == t.flatten()[0]).all()):
        return None
    shape, name = tuple(t.shape), str(t.dtype).removeprefix("torch.")
    dims = ", ".join(map(str, shape))
    view = f".view({dims})" if t.ndim > 1 else ""
    tail = "" if isinstance(x, torch.Tensor) else ".numpy()"
    dot = "." if t.is_floating_point() else ""
    compared = " > 0" if t.dtype == torch.bool else ""
    usual = name in ("float32", "int64", "bool")
    for modulus in MODULI:
        if torch.equal(t, counted(shape, modulus).to(t.dtype)):
            text = f"(torch.arange({t.numel()}{dot}){view} % {modulus}{compared})"
            return f"{text}{'' if usual else f'.to(torch.{name})'}{tail}", 3 + t.ndim
    if not t.is_floating_point():
        return None
    tail = ("" if name == "float32" else f".to(torch.{name})") + tail
    rows = t.reshape(-1, shape[-1])
    is_one_hot = ((rows == 0) | (rows == 1)).all() and (rows.sum(-1) == 1).all()
    if 3 * len(rows) <= t.numel() and bool(is_one_hot):
        places = rows.argmax(-1).reshape(shape[:-1]).tolist()
        # a nested list would be read as one index for each axis
        index = places if t.ndim < 3 else f"torch.tensor({places})"
        return f"torch.eye({shape[-1]})[{index}]{tail}", 1 + len(rows)
    if torch.equal(t, normal(shape).to(t.dtype)):
        seed = "generator=torch.Generator().manual_seed(0)"
        return f"torch.randn({dims}, {seed}){tail}", t.ndim + 1
    return None
