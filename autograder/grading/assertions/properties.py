"""Properties that hidden tests check directly, and arguments that only the worker can make."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from ..comparator import Tolerance, as_tensor, close, is_array, largest_entry
from ..disclosure.leak_budget import few, rough
from ..outcomes import Flaw, GraderFault, Wrong
from .case import Special

NEW_AXES = Special("axes", None)
_ROUNDINGS = 64  # machine epsilons
_LARGEST_COUNT = 999  # entries; the inputs of tests are small


def generator_seed(seed: int) -> Special:
    """Pass a torch.Generator with this seed, made on the test's device."""
    return Special("generator", seed)


def once(items: Sequence[torch.Tensor]) -> Special:
    """Pass an iterator over the items, which can be consumed only once."""
    return Special("once", list(items))


def function(expression: str) -> Special:
    """Pass a function, such as function("lambda x: 2 * x"), made in the worker."""
    return Special("expression", expression.strip())


def generator(expression: str) -> Special:
    """Pass a generator, such as generator("(n * n for n in range(4))"), made in the worker."""
    return Special("expression", expression.strip())


def torch_mha(
    embed_dim: int, num_heads: int, bias: bool = True, *, state: Mapping[str, torch.Tensor]
) -> Special:
    """Pass a batch-first nn.MultiheadAttention with this state dict, made in the worker."""
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
    """Pass a small BERT with weights drawn from `seed`, made in the worker for every call.

    `vocabulary` lists lower-case words and word pieces ("##s"). `training` and `attention` set the
    mode and the attention implementation that the model has when the call begins.
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
    """Fail the test with this message, which must not reveal hidden inputs."""
    if isinstance(condition, str) or not isinstance(message, str):
        raise GraderFault("expect takes a condition, and then the message for when it is false")
    if not bool(condition):
        raise Wrong(message)


def all_finite(x: Any, what: str = "The result") -> None:
    """Check that no entry is NaN or infinite."""
    bad = int((~torch.isfinite(_tensor(x, what))).sum())
    if bad:
        raise Wrong(f"{what} has {few(bad, _LARGEST_COUNT)} entries that are NaN or infinite.")


def rows_sum_to_one(weights: Any, dim: int = -1) -> None:
    """Check that every row of weights sums to 1."""
    tensor = _tensor(weights, "The weights")
    if not tensor.is_floating_point():
        dtype = str(tensor.dtype).removeprefix("torch.")
        raise Wrong(f"The weights should be floating-point numbers, but are {dtype}.")
    if not -tensor.ndim <= dim < tensor.ndim:
        raise Wrong(f"The weights should have more than {few(tensor.ndim)} axes.")
    sums = tensor.double().sum(dim)
    if not close(sums, torch.ones_like(sums), Tolerance(_ROUNDINGS * _eps(tensor))):
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
    """Check that two results are equal up to a few rounding errors of the dtype."""
    first, second = _tensor(a, "The result"), _tensor(b, "The result")
    if first.shape != second.shape or first.is_complex() != second.is_complex():
        raise Wrong(message)
    slack = _ROUNDINGS * _eps(first) * max(1.0, largest_entry(second))
    if not close(first, second, Tolerance(slack)):
        raise Wrong(message)


def growth_exponent(sizes: Mapping[int, Any], of: str = "largest") -> float:
    """Return the exponent p of cost ~ size^p, fitted to (size, cost); a cost may be a Counted."""
    if len(sizes) < 2:
        raise GraderFault("growth_exponent needs the cost at two sizes at least")
    points = sorted((n, float(getattr(c, of, c))) for n, c in sizes.items())
    x = np.log([n for n, _ in points])
    y = np.log([max(c, 1.0) for _, c in points])
    slope = float(np.polyfit(x, y, 1)[0])
    return slope if math.isfinite(slope) else math.inf


def _eps(x: torch.Tensor) -> float:
    has_eps = x.is_floating_point() or x.is_complex()
    return float(torch.finfo(x.dtype).eps) if has_eps else 0.0


def _tensor(x: Any, what: str) -> torch.Tensor:
    """Return a student's tensor or array as a tensor; raise Wrong if it has no data."""
    if not is_array(x):
        raise Wrong(f"{what} should be a tensor, but is {type(x).__name__}.", Flaw.KIND)
    tensor = as_tensor(x)
    if tensor.is_meta:
        raise Wrong(f"{what} has no data.")
    return tensor
