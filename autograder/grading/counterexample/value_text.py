"""Write results and arguments as a person would: few digits in results, exact arguments."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch

from ...worker.protocol import frames
from ..comparator import as_tensor, is_array
from ..decoding import Drawing, Figure, Image
from ..outcomes import printable

DIGITS = (2, 3, 4, 6, 9, 17)  # significant digits to try until two texts differ
MODULI = (2, 3, 5)
_LONG = 12  # entries of an array that is written as a pattern, if it has one
_LONGEST = 400  # characters of a text from the submission


# Results


def result_text(value: Any, digits: int) -> str:
    """Describe a decoded result in one line, with floats rounded to this many digits."""
    if is_array(value):
        x = as_tensor(value)
        return f"no data, shape {tuple(x.shape)}" if x.is_meta else _nested(x.tolist(), digits)
    if isinstance(value, (tuple, list)):
        inner = ", ".join(result_text(v, digits) for v in value)
        return f"({inner})" if isinstance(value, tuple) else f"[{inner}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{k!r}: {result_text(v, digits)}' for k, v in value.items())}}}"
    if isinstance(value, (frames.HandleV, frames.OpaqueV)):
        return f"a {printable(value.type)} object"
    if isinstance(value, (Drawing, Figure)):
        return f"a matplotlib {'Axes' if isinstance(value, Drawing) else 'Figure'}"
    if isinstance(value, Image):
        return result_text(value.data, digits)
    if isinstance(value, str):
        return printable(repr(value))[:_LONGEST]
    return _nested(value, digits)


def _nested(value: Any, digits: int) -> str:
    if isinstance(value, list):
        return f"[{', '.join(_nested(v, digits) for v in value)}]"
    return number_text(value, digits) if isinstance(value, (float, complex)) else repr(value)


def number_text(value: float | complex, digits: int) -> str:
    """Round a float to significant digits: `0.27`, `1000`, `1e-09`, `nan`."""
    if isinstance(value, complex) or not math.isfinite(value):
        return str(value)
    rounded = float(f"{value:.{digits}g}") + 0.0
    if rounded == 0 or 1e-4 <= abs(rounded) < 1e7:
        return np.format_float_positional(rounded, trim="-")
    return f"{rounded:.{digits}g}"


# Arguments


def float_literal(x: float, dtype: str = "float64") -> str:
    """Return the shortest Python text of a float: `1.`, `0.25`, `-inf` as `-math.inf`."""
    if math.isnan(x):
        return "math.nan"
    if math.isinf(x):
        return "math.inf" if x > 0 else "-math.inf"
    kind: Any = np.float32 if dtype != "float64" else np.float64
    text = np.format_float_positional(kind(x), trim=".", unique=True)
    return text if len(text) < 14 else repr(float(kind(x))) if dtype == "float64" else f"{x:.9g}"


def array_text(x: Any) -> str:
    """Return an expression of `torch` and `np` that makes an array with this dtype and layout."""
    if isinstance(x, np.generic):
        return f"np.{x.dtype.name}({_item(x.item(), x.dtype.name)})"
    return _in_torch(x) if isinstance(x, torch.Tensor) else _in_numpy(x)


def _in_torch(x: torch.Tensor) -> str:
    if x.ndim and not x.is_contiguous():
        return _viewed(x)
    return _made(x, "torch", "tensor", str(x.dtype).removeprefix("torch."), "float32")


def _in_numpy(x: np.ndarray[Any, Any]) -> str:
    if x.ndim and not x.flags.c_contiguous:
        return _viewed(x)
    return _made(x, "np", "array", x.dtype.name, "float64")


def _made(x: Any, library: str, make: str, name: str, usual: str) -> str:
    """Return an expression for a dense array. `usual`: the dtype of floats in this library."""
    pattern = pattern_text(x)
    if pattern is not None:
        return pattern[0]
    flat = as_tensor(x).flatten().tolist()
    dtype = f", dtype={library}.{name}"
    kind = "" if name == usual else dtype  # of `ones` and the like
    sizes = repr(tuple(x.shape))
    shape = ", ".join(map(str, x.shape)) if library == "torch" and x.ndim else sizes
    if not flat:
        return f"{library}.zeros({shape}{kind})"
    if len(flat) > max(2, x.ndim) and all(v == flat[0] for v in flat):
        if flat[0] in (0, 1):
            return f"{library}.{'ones' if flat[0] else 'zeros'}({shape}{kind})"
        inferred = name in (usual, "int64")
        return f"{library}.full({sizes}, {_item(flat[0], name)}{'' if inferred else dtype})"
    if x.ndim == 1 and len(flat) > 3 and name == "int64" and flat == list(range(len(flat))):
        return f"{library}.arange({len(flat)})"
    if x.ndim == 2 and len(flat) > 4 and name != "bool":
        if as_tensor(x).double().equal(torch.eye(*x.shape, dtype=torch.float64)):
            return f"{library}.eye({', '.join(map(str, x.shape))}{kind})"
    inferred = name in (usual, "int64", "bool")
    return f"{library}.{make}({_list(x.tolist(), name)}{'' if inferred else dtype})"


def counted(shape: tuple[int, ...], modulus: int) -> torch.Tensor:
    """Return the numbers 0, 1, … modulo a number, as int64."""
    return torch.arange(math.prod(shape)).reshape(shape) % modulus


def normal(shape: tuple[int, ...]) -> torch.Tensor:
    """Return normal entries in float32, drawn with seed 0."""
    return torch.randn(shape, generator=torch.Generator().manual_seed(0))


def pattern_text(x: Any) -> tuple[str, int] | None:
    """Return a short expression for a long array with a pattern, and how many numbers it has."""
    t = as_tensor(x)
    if t.numel() <= _LONG or not t.ndim or bool((t == t.flatten()[0]).all()):
        return None
    text, numbers = _pattern(t)
    if not text:
        return None
    if not isinstance(x, torch.Tensor):
        text += ".numpy()"
    return text, numbers


def _pattern(t: torch.Tensor) -> tuple[str, int]:
    shape, name = tuple(t.shape), str(t.dtype).removeprefix("torch.")
    dims = ", ".join(map(str, shape))
    view = f".view({dims})" if t.ndim > 1 else ""
    numbers = 2 + t.ndim * (t.ndim > 1)
    if t.dtype == torch.bool:
        for modulus in MODULI:
            if torch.equal(t, counted(shape, modulus) > 0):
                return f"torch.arange({t.numel()}){view} % {modulus} > 0", numbers + 1
        return "", 0
    head = t.flatten()[:4].tolist()
    for modulus in MODULI:
        if head == [n % modulus for n in range(len(head))] and torch.equal(
            t, counted(shape, modulus).to(t.dtype)
        ):
            dot = "." if t.is_floating_point() else ""
            text = f"torch.arange({t.numel()}{dot}){view} % {modulus}"
            usual = name in ("float32", "int64")
            return text if usual else f"({text}).to(torch.{name})", numbers
    if not t.is_floating_point():
        return "", 0
    kind = "" if name == "float32" else f".to(torch.{name})"
    rows = t.reshape(-1, shape[-1])
    if 3 * len(rows) <= t.numel() and bool(((t == 0) | (t == 1)).all()):
        if bool((rows.sum(-1) == 1).all()):
            places = rows.argmax(-1).reshape(shape[:-1]).tolist()
            return f"torch.eye({shape[-1]})[{places}]{kind}", 1 + len(rows)
    if torch.equal(t, normal(shape).to(t.dtype)):
        draw = "generator=torch.Generator().manual_seed(0)"
        return f"torch.randn({dims}, {draw}){kind}", t.ndim + 1
    return "", 0


def _list(value: Any, name: str) -> str:
    if isinstance(value, list):
        return f"[{', '.join(_list(v, name) for v in value)}]"
    return _item(value, name)


def _item(value: Any, name: str) -> str:
    return float_literal(value, name) if isinstance(value, float) else repr(value)


def _viewed(x: Any) -> str:
    """Return an expression for a transposed, expanded or strided view."""
    is_torch = isinstance(x, torch.Tensor)
    strides = x.stride() if is_torch else tuple(s // x.itemsize for s in x.strides)
    if 0 in strides:
        kept = x[tuple(slice(0, 1) if s == 0 else slice(None) for s in strides)]
        shape = ", ".join(map(str, x.shape))
        base = kept.contiguous() if is_torch else np.ascontiguousarray(kept)
        if is_torch:
            return f"{array_text(base)}.expand({shape})"
        return f"np.broadcast_to({array_text(base)}, ({shape},))"
    order = sorted(range(x.ndim), key=lambda axis: -strides[axis])
    base = x.permute(order) if is_torch else x.transpose(order)
    back = ", ".join(str(order.index(axis)) for axis in range(x.ndim))
    dense = base.is_contiguous() if is_torch else base.flags.c_contiguous
    if not dense:
        return _strided(base, back, is_torch)
    if x.ndim == 2:
        return f"{array_text(base)}.T"
    return f"{array_text(base)}.{'permute' if is_torch else 'transpose'}({back})"


def _strided(base: Any, back: str, is_torch: bool) -> str:
    """Return an expression for every second column of a contiguous array."""
    wide = torch.repeat_interleave(as_tensor(base), 2, dim=-1)
    made = array_text(wide if is_torch else wide.numpy())
    axes = "" if back == ", ".join(map(str, range(base.ndim))) else (
        f".{'permute' if is_torch else 'transpose'}({back})"
    )
    return f"{made}[..., ::2]{axes}"
