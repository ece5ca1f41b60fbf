"""Properties of torch's operators for the fake GPU, and CPU versions of CUDA-only operators."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import torch
from torch.utils._python_dispatch import TorchDispatchMode

# Operators that create a tensor and have no tensor arguments.
FACTORIES = (
    *("empty", "empty_strided", "empty_permuted", "_efficientzerotensor", "scalar_tensor"),
    *("zeros", "ones", "full", "eye", "arange", "range", "linspace", "logspace"),
    *("rand", "randn", "randint", "randperm", "normal", "tril_indices", "triu_indices"),
)
# Operators whose first argument determines the device; an index or lengths may be on the CPU.
_INDEXING = {"index", "index_put", "index_put_", "_index_put_impl_", "_unsafe_index"} | {
    *("_pack_padded_sequence", "_pad_packed_sequence")
}
# Operators whose tensors must all be on the same device, including zero-dimensional tensors.
_STRICT = {"cat", "stack", "embedding", "index_select", "gather"}
# Operators without a CUDA kernel for integers. einsum and matmul call these operators.
_FLOAT_ONLY = {"mm", "addmm", "bmm", "baddbmm", "mv", "addmv", "dot", "convolution"}
# Operators that resize their first argument. `return_and_correct_aliasing` does not support them.
_RESIZING = {"resize_", "resize_as_"}


class DispatchMode(TorchDispatchMode):
    """A dispatch mode that does not make torch import its compiler."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # untyped in torch

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False


class OperatorFacts(NamedTuple):
    """Properties of an operator that the fake GPU needs.

    moves:           whether the operator copies between devices
    strict:          whether zero-dimensional tensors must be on the device, too
    indexing:        whether an index may be on the CPU
    written:         positions and names of the arguments that the operator changes in place
    on_device:       positions and names of arguments that must be on the device even if they are
                     zero-dimensional
    returns_written: whether the operator returns the arguments that it changes
    changes_view:    whether the operator changes the shape or strides of an argument in place,
                     but does not resize it
    float_only:      whether CUDA has no integer kernel for the operator
    """

    name: str
    moves: bool
    strict: bool
    indexing: bool
    written: tuple[tuple[int, str], ...]
    on_device: frozenset[int | str]
    returns_written: bool
    changes_view: bool
    float_only: bool


@lru_cache(maxsize=4096)
def facts_of(func: Any) -> OperatorFacts:
    """Return the properties of one overload of an operator."""
    schema, name = func._schema, func.overloadpacket.__name__
    written = tuple(
        (place, argument.name)
        for place, argument in enumerate(schema.arguments)
        if argument.alias_info is not None and argument.alias_info.is_write
    )
    on_device = {key for place_and_name in written for key in place_and_name}
    indexing = name in _INDEXING
    aliases = [r.alias_info for r in schema.returns]
    return OperatorFacts(
        name,
        name in ("copy_", "_to_copy"),
        name in _STRICT,
        indexing,
        written,
        frozenset(on_device | {0} if indexing else on_device),
        bool(aliases) and all(a is not None and a.is_write for a in aliases),
        torch.Tag.inplace_view in func.tags and name not in _RESIZING,
        name in _FLOAT_ONLY,
    )


def _lstm_cell(
    inputs: torch.Tensor, hidden: torch.Tensor, cx: torch.Tensor, *biases: torch.Tensor | None
) -> tuple[torch.Tensor, ...]:
    gates = sum((b for b in biases if b is not None), inputs + hidden)
    enter, forget, cell, leave = gates.chunk(4, 1)
    cy = forget.sigmoid() * cx + enter.sigmoid() * cell.tanh()
    return leave.sigmoid() * cy.tanh(), cy, gates


def _gru_cell(
    inputs: torch.Tensor,
    hidden: torch.Tensor,
    hx: torch.Tensor,
    input_bias: torch.Tensor | None = None,
    hidden_bias: torch.Tensor | None = None,
) -> tuple[torch.Tensor, ...]:
    inputs = inputs if input_bias is None else inputs + input_bias
    hidden = hidden if hidden_bias is None else hidden + hidden_bias
    (reset, update, new), (reset_h, update_h, new_h) = inputs.chunk(3, 1), hidden.chunk(3, 1)
    new = (new + (reset + reset_h).sigmoid() * new_h).tanh()
    return new + (update + update_h).sigmoid() * (hx - new), inputs


# Operators without a CPU kernel. The last result is the workspace for CUDA's backward pass.
CELLS: dict[str, Callable[..., Any]] = {
    "_thnn_fused_lstm_cell": _lstm_cell,
    "_thnn_fused_gru_cell": _gru_cell,
}
# Lazy views set a bit of the tensor, which its wrapper would lack, so they are computed at once.
ON_CPU = CELLS | {"_conj": torch.conj_physical, "_neg_view": torch.neg}
