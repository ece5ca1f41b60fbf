"""Properties that hidden graders state directly, and arguments that only a worker can make."""

from __future__ import annotations

import ast
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ParamSpec

import numpy as np
import torch

from ..disclosure.leak_budget import amount, few, rough
from ..outcomes import Flaw, GraderFault, Wrong
from .case import Special

NEW_AXES = Special("axes", None)
P = ParamSpec("P")


def generator_seed(seed: int) -> Special:
    """A torch.Generator with this seed, made on the test's device."""
    return Special("generator", seed)


def once(items: Sequence[torch.Tensor]) -> Special:
    """An iterator over the items, which can be gone through only once."""
    return Special("once", list(items))


def function(expression: str) -> Special:
    """A function as an argument, such as function("lambda x: 2 * x"), made where the code runs."""
    return _expression(expression, ast.Lambda, 'function("lambda x: 2 * x")')


def generator(expression: str) -> Special:
    """A generator as an argument, such as generator("(n * n for n in range(4))")."""
    return _expression(expression, ast.GeneratorExp, 'generator("(n * n for n in range(4))")')


def _expression(text: str, kind: type[ast.expr], example: str) -> Special:
    """torch, np and math are known in it, and nothing of the test."""
    try:
        is_one = isinstance(ast.parse(text.strip(), mode="eval").body, kind)
    except (SyntaxError, ValueError, AttributeError):
        is_one = False
    if not is_one:
        raise GraderFault(f"it takes the text of one, as in {example}")
    return Special("expression", text.strip())


def torch_mha(
    embed_dim: int, num_heads: int, bias: bool = True, *, state: Mapping[str, torch.Tensor]
) -> Special:
    """A batch-first nn.MultiheadAttention with the given state dict, made in the worker."""
    content = {"embed_dim": embed_dim, "num_heads": num_heads, "bias": bias, "state": dict(state)}
    return Special("torch_mha", content)


@dataclass(frozen=True)
class HuggingFaceEncoder:
    """A small BERT and the tokenizer that belongs to it, as arguments of a call."""

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
    """An encoder with weights drawn from `seed`, made in the worker anew for every call.

    `vocabulary` lists words in lower case and pieces of words ("##s"); `training` is its mode and
    `attention` its implementation when the call begins.
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
    """Fail the test with this message, which must tell nothing hidden."""
    if isinstance(condition, str) or not isinstance(message, str):
        raise GraderFault("expect takes what should hold, and then what to say if it does not")
    if not bool(condition):
        raise Wrong(message)


def all_finite(x: Any, what: str = "The result") -> None:
    """No entry is NaN or infinite."""
    tensor = _tensor(x, what)
    if not bool(torch.isfinite(tensor).all()):
        bad = int((~torch.isfinite(tensor)).sum())
        raise Wrong(f"{what} has {amount(bad)} entries that are NaN or infinite.")


def rows_sum_to_one(weights: Any, dim: int = -1) -> None:
    """Every row of weights is a probability distribution."""
    tensor = _tensor(weights, "The weights")
    if not tensor.is_floating_point():
        raise Wrong(f"The weights should be floating-point numbers, but are {_dtype(tensor)}.")
    if not -tensor.ndim <= dim < tensor.ndim:
        raise Wrong(f"The weights should have more than {few(tensor.ndim)} axes.")
    sums = tensor.double().sum(dim)
    slack = 64 * _eps(tensor)
    if not bool(torch.allclose(sums, torch.ones_like(sums), atol=slack, rtol=0)):
        worst = sums.flatten()[(sums - 1).abs().flatten().argmax()]
        raise Wrong(f"Rows of weights should sum to 1, but one sums to {rough(float(worst))}.")


def zero_where(weights: Any, hidden: torch.Tensor) -> None:
    """Entries that the mask hides are exactly zero."""
    tensor = _tensor(weights, "The weights")
    if not _broadcasts(hidden.shape, tensor.shape):
        raise Wrong("The weights do not have the shape of their mask.")
    count = int((tensor[hidden.expand_as(tensor)] != 0).sum())
    if count:
        raise Wrong(f"Masked entries are not exactly zero: {amount(count)} of them have weight.")


def same(a: Any, b: Any, message: str) -> None:
    """Equal up to a few roundings of the dtype."""
    first, second = _tensor(a, "The result"), _tensor(b, "The result")
    if first.shape != second.shape or first.is_complex() != second.is_complex():
        raise Wrong(message)
    wide = torch.complex128 if first.is_complex() else torch.float64
    slack = 64 * _eps(first) * max(1.0, float(second.to(wide).abs().max()) if second.numel() else 1)
    if not torch.allclose(first.to(wide), second.to(wide), atol=slack, rtol=0, equal_nan=True):
        raise Wrong(message)


def growth_exponent(sizes: Mapping[int, Any], of: str = "largest") -> float:
    """The exponent p of cost ~ size^p fitted through (size, cost); cost may be a Counted."""
    if len(sizes) < 2:
        raise GraderFault("growth_exponent needs what it costs at two sizes at least")
    points = sorted((n, float(getattr(c, of, c))) for n, c in sizes.items())
    x = np.log([n for n, _ in points])
    y = np.log([max(c, 1.0) for _, c in points])
    slope = float(np.polyfit(x, y, 1)[0])
    return slope if math.isfinite(slope) else math.inf


def _eps(x: torch.Tensor) -> float:
    exact = not (x.is_floating_point() or x.is_complex())
    return 0.0 if exact else float(torch.finfo(x.dtype).eps)


def _broadcasts(mask: torch.Size, shape: torch.Size) -> bool:
    """Return whether a mask of one shape can be expanded to another."""
    return len(mask) <= len(shape) and all(
        m in (1, n) for m, n in zip(reversed(mask), reversed(shape), strict=False)
    )


def _dtype(x: torch.Tensor) -> str:
    return str(x.dtype).removeprefix("torch.")


def _tensor(x: Any, what: str) -> torch.Tensor:
    """A student's tensor or array; one that holds no data shows no property."""
    if isinstance(x, (np.ndarray, np.generic)):
        return torch.from_numpy(np.array(x))
    if not isinstance(x, torch.Tensor):
        raise Wrong(f"{what} should be a tensor, but is {type(x).__name__}.", Flaw.KIND)
    if x.is_meta:
        raise Wrong(f"{what} holds no data.")
    return x
