"""Digests of answers, for fast comparisons with thousands of other answers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch

from ...worker.protocol import frames
from ..comparator import DIGEST, close
from ..decoding import read_answer
from ..outcomes import Outcome
from ..targets.in_process import Answer

_MAX_VALUES = 4096  # of an answer
Digest = tuple[Any, np.ndarray]  # the structure of an answer, and its first values


def same_endings(first: tuple[int, Digest] | None, second: tuple[int, Digest]) -> bool:
    """Return True if two runs ended at the same call with the same answer."""
    return first is not None and first[0] == second[0] and same_digests(first[1], second[1])


def same_digests(first: Digest, second: Digest) -> bool:
    """Return True if two answers have the same structure and, up to rounding, the same values."""
    return bool(first[0] == second[0]) and close(first[1], second[1], DIGEST)


def digest_of(answer: Answer | Outcome) -> Digest:
    """Return the structure of an answer, without its values, and its first values."""
    if isinstance(answer, Outcome):
        return type(answer).__name__, np.empty(0)
    reply = answer[0]
    raised = reply.raised.type if reply.raised else ""
    structure: list[Any] = [reply.status, raised, reply.detached, reply.side_effects]
    values: list[np.ndarray] = []
    try:
        value, gradients = read_answer(answer)
        _collect((value, *gradients), structure, values)
    except frames.BadFrame:
        structure.append("unreadable")
    return tuple(map(repr, structure)), np.concatenate([np.empty(0), *values])


def _collect(value: Any, structure: list[Any], values: list[np.ndarray]) -> None:
    if isinstance(value, (np.ndarray, np.generic, torch.Tensor)):
        shape = tuple(value.shape)
        if not isinstance(value, torch.Tensor):
            value = torch.from_numpy(np.array(first_values(np.asarray(value), _MAX_VALUES)))
        comparable = not value.is_meta and not value.is_complex()
        structure.append((value.dtype, shape, comparable))
        if comparable:
            left = _MAX_VALUES - sum(map(len, values))
            values.append(first_values(value.detach(), left).double().numpy())
    elif isinstance(value, (tuple, list)):
        structure.append(len(value))
        for part in value:
            _collect(part, structure, values)
    elif isinstance(value, float):
        structure.append("float")
        values.append(np.array([value]))
    elif isinstance(value, (bool, int, str)) or value is None:
        structure.append(value)
    else:
        structure.append(type(value).__name__)


def first_values(x: Any, size: int) -> Any:
    """Return the first `size` values of a tensor or an array, flat, without copying all of it."""
    while x.ndim > 1 and math.prod(x.shape) > size:
        rest = math.prod(x.shape[1:])
        if rest < size:
            x = x[: -(-size // rest)]
            break
        x = x[0]
    return x.reshape(-1)[:size]
