"""What of an answer is quickly compared with thousands of others: its form, and its numbers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch

from ...worker.protocol import frames
from ...worker.protocol.values import Decoder
from ..decoding import read_special
from ..outcomes import Outcome
from ..targets.in_process import Answer

_LONGEST = 4096  # numbers of an answer that are compared
Digest = tuple[Any, np.ndarray]


def ended_alike(one: tuple[int, Digest] | None, other: tuple[int, Digest]) -> bool:
    return one is not None and one[0] == other[0] and same_digests(one[1], other[1])


def same_digests(one: Digest, other: Digest) -> bool:
    """Whether two answers have one form and, up to rounding, the same numbers."""
    if one[0] != other[0]:
        return False
    size = float(np.abs(other[1]).max(initial=0.0))
    return bool(np.allclose(one[1], other[1], rtol=1e-4, atol=1e-5 * min(size, 1e6)))


def digest_of(answer: Answer | Outcome) -> Digest:
    """Of an answer what is quickly compared: its form, and the numbers in it."""
    if isinstance(answer, Outcome):
        return type(answer).__name__, np.empty(0)
    reply = answer[0]
    raised = reply.raised.type if reply.raised else ""
    form: list[Any] = [reply.status, raised, reply.detached, reply.side_effects]
    numbers: list[np.ndarray] = []
    try:
        decoder = Decoder(answer[1], special=read_special)
        for value in (reply.value, *(reply.gradients or ())):
            _into(decoder(value), form, numbers)
    except frames.BadFrame:
        form.append("unreadable")
    flat = np.concatenate(numbers) if numbers else np.empty(0)
    return tuple(map(repr, form)), np.nan_to_num(flat, nan=1e9, posinf=2e9, neginf=-2e9)


def _into(value: Any, form: list[Any], numbers: list[np.ndarray]) -> None:
    if isinstance(value, (np.ndarray, np.generic, torch.Tensor)):
        shape = tuple(value.shape)
        if not isinstance(value, torch.Tensor):
            value = torch.from_numpy(np.array(_beginning(np.asarray(value), _LONGEST)))
        counted = not value.is_meta and not value.is_complex()
        form.append((value.dtype, shape, counted))
        if counted:
            room = _LONGEST - sum(map(len, numbers))
            numbers.append(_beginning(value.detach(), room).double().numpy())
    elif isinstance(value, (tuple, list)):
        form.append(len(value))
        for part in value:
            _into(part, form, numbers)
    elif isinstance(value, float):
        form.append("float")
        numbers.append(np.array([value]))
    elif isinstance(value, (bool, int, str)) or value is None:
        form.append(value)
    else:
        form.append(type(value).__name__)


def _beginning(x: Any, size: int) -> Any:
    """The first numbers of a tensor or an array, flat.

    Of an expanded view, however large, no more than these take memory.
    """
    while x.ndim > 1 and math.prod(x.shape) > size:
        rest = math.prod(x.shape[1:])
        if rest < size:
            x = x[: -(-size // rest)]
            break
        x = x[0]
    return x.reshape(-1)[:size]
