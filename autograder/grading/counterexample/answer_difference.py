"""Decide whether and how a reply is certainly wrong, and write both replies side by side."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch

from ...worker.protocol import frames
from ...worker.protocol.frames import Effect
from ..assertions.properties import compare_drawing
from ..assertions.value_comparison import compare
from ..comparator import as_tensor, distance, is_array, largest_entry, leaves, without_trailing_spaces
from ..decoding import Drawing, Image, nested, read_answer
from ..disclosure.signatures import NamedParts
from ..outcomes import Outcome, Wrong, printable
from ..targets.in_process import Answer
from .value_text import DIGITS, number_text, result_text

Kind = Literal[
    "value", "shape", "dtype", "type", "device", "text", "drawing", "exception", "refusal",
    "message", "gradient", "detached", "argument", "effect", "state", "missing", "forbidden",
    "stopped", "work", "memory access",
]  # fmt: skip
_MOST_SHOWN = 12  # entries of an array to show; of a larger one, only the entry that differs most
_TIMES = 4  # factor by which a correct program may need more operations or memory
_OPERATIONS = 64  # and this number of operations, which are less than the overhead of any style
_LONGEST = 160
_COUNTS = {
    "largest": "elements in the largest new tensor",
    "flops": "floating-point operations",
    "kept": "elements kept for the backward pass",
    "ops": "calls of torch operators",
}
_ARGUMENTS = (Effect.TENSOR, Effect.TENSOR_SHAPE, Effect.ARRAY)


@dataclass(frozen=True)
class AnswerDifference:
    """How a reply differs from the solution's.

    kind: what differs
    path: the position of the different part in nested results, or the index of the gradient
    """

    kind: Kind
    path: tuple[Any, ...] = ()


def difference(
    right: Answer,
    mine: Answer | Outcome,
    makes: bool = False,
    strictly: bool = False,
    work: Collection[str] | None = None,
) -> AnswerDifference | None:
    """Return how a reply is certainly wrong, or None if it may be right.

    makes:    whether the call makes an object, which may draw random numbers
    strictly: whether a value is wrong if it fails the comparison of hidden tests
    work:     the counts to compare (`AnswerDifference.path`); None compares all
    """
    if isinstance(mine, Outcome):
        return AnswerDifference("stopped")
    a, b = mine[0], right[0]
    if a.banned:
        return None if b.banned else AnswerDifference("forbidden")
    if b.status != a.status or b.raised is not None:
        return _of_status(a, b)
    value = _of_values(right, mine, strictly)
    if value is not None:
        return value
    for x, y in zip(nested((a.value,)), nested((b.value,)), strict=True):
        if isinstance(x, frames.TensorV) and isinstance(y, frames.TensorV) and x.device != y.device:
            return AnswerDifference("device")
    if a.detached and not b.detached:
        return AnswerDifference("detached")
    gradient = _of_gradients(right, mine)
    if gradient is not None:
        return gradient
    new = [] if makes else [e for e in a.side_effects if e not in b.side_effects]
    if new:
        kind: Kind = "argument" if new[0].effect in _ARGUMENTS else "effect"
        return AnswerDifference(kind, (new[0],))
    return _of_counts(a.counts, b.counts, work)


def _of_status(a: frames.Reply, b: frames.Reply) -> AnswerDifference | None:
    if b.raised is not None:
        if a.raised is None or b.raised.type not in a.raised.bases:
            return AnswerDifference("refusal")
        wanted = set(re.findall(r"\d+", b.raised.message))
        named = not wanted or any(number in a.raised.message for number in wanted)
        return None if named else AnswerDifference("message")
    if a.raised is not None:
        return AnswerDifference("exception")
    kinds: dict[str, Kind] = {"missing": "missing", "state": "state"}
    return AnswerDifference(kinds.get(a.status, "stopped"))


def _of_values(right: Answer, mine: Answer, strictly: bool) -> AnswerDifference | None:
    try:
        actual = read_answer(mine)[0]
    except frames.BadFrame:
        return AnswerDifference("type")
    expected = read_answer(right)[0]
    for path, x, y in _located(actual, expected, ()):
        kind = _kind_of_leaf(x, y, strictly)
        if kind is not None:
            return AnswerDifference(kind, path)
    return None


def _located(a: Any, b: Any, path: tuple[Any, ...]) -> Iterator[tuple[tuple[Any, ...], Any, Any]]:
    """Yield the innermost parts of two results in pairs, with their position."""
    for kind, size in ((dict, dict.keys), ((tuple, list), len)):
        if isinstance(a, kind) and isinstance(b, kind) and size(a) == size(b):  # type: ignore[operator]
            keys = b if isinstance(b, dict) else range(len(b))
            for key in keys:
                yield from _located(a[key], b[key], (*path, key))
            return
    yield path, a, b


def _kind_of_leaf(a: Any, b: Any, strictly: bool) -> Kind | None:
    if isinstance(b, (Drawing,)) or hasattr(b, "axes"):
        return _kind_of_drawing(a, b)
    if isinstance(b, str) and isinstance(a, str):
        return None if without_trailing_spaces(a).rstrip("\n") == without_trailing_spaces(b).rstrip("\n") else "text"
    if is_array(b) and is_array(a) and isinstance(a, torch.Tensor) == isinstance(b, torch.Tensor):
        if tuple(a.shape) != tuple(b.shape):
            return "shape"
        if a.dtype != b.dtype:
            return "dtype"
    elif is_array(b) and isinstance(a, float) and isinstance(b, np.generic):
        a = type(b)(a)
    elif isinstance(b, frames.HandleV) and isinstance(a, frames.HandleV):
        return "type" if a.state is None and b.state is not None else None
    elif is_array(b) or type(a) is not type(b):
        alike = isinstance(b, float) and isinstance(a, (int, np.floating)) and not isinstance(a, bool)
        exact = isinstance(b, (int, bool)) and isinstance(a, (np.integer, np.bool_))
        if not alike and not exact:
            return "type"
        a = type(b)(a)
    return "value" if distance(a, b) > 1 or (strictly and _fails(a, b)) else None


def _fails(a: Any, b: Any) -> bool:
    try:
        compare(a, b)
    except Wrong:
        return True
    return False


def _kind_of_drawing(a: Any, b: Any) -> Kind | None:
    if type(a) is not type(b):
        return "type"
    if isinstance(b, Drawing):
        try:
            compare_drawing(a, b)
        except Wrong:
            return "drawing"
        return None
    if len(a.axes) != len(b.axes):
        return "drawing"
    kinds = (_kind_of_drawing(x, y) for x, y in zip(a.axes, b.axes, strict=True))
    return next((k for k in kinds if k is not None), None)


def _of_gradients(right: Answer, mine: Answer) -> AnswerDifference | None:
    (value, theirs), (_, own) = read_answer(right), read_answer(mine)
    if len(own) != len(theirs):
        return AnswerDifference("detached") if theirs else None
    scale = max([*map(largest_entry, theirs), 1e-2 * _largest(value)], default=0.0)
    for index, (g, e) in enumerate(zip(own, theirs, strict=True)):
        zero = torch.zeros(())
        g = zero if g is None and e is None else torch.zeros_like(e) if g is None else g
        e = torch.zeros_like(g) if e is None else e
        if not isinstance(g, torch.Tensor) or distance(g, e, scale) > 1:
            return AnswerDifference("gradient", (index,))
    return None


def _largest(value: Any) -> float:
    if isinstance(value, (tuple, list)):
        return max(map(_largest, value), default=0.0)
    return largest_entry(value)


def _of_counts(
    a: frames.Counts | None, b: frames.Counts | None, work: Collection[str] | None
) -> AnswerDifference | None:
    if a is None or b is None:
        return None
    for name in ("outside_loads", "outside_stores", "races"):
        mine, right = (any(getattr(x, name) for x in c.launches) for c in (a, b))
        if mine > right and (work is None or name in work):
            return AnswerDifference("memory access", (name,))
    programs, own = ([x.programs for x in c.launches] for c in (b, a))
    is_wrong = {
        "launches": bool(programs) and not own,
        "computed": bool(a.computed) and not b.computed,
        "refused": any(x.refused for x in a.launches) and not any(x.refused for x in b.launches),
        **{n: getattr(a, n) > _TIMES * getattr(b, n) + _OPERATIONS for n in _COUNTS},
        "programs": programs != own,
    }
    for name, wrong in is_wrong.items():
        if wrong and (work is None or name in work):
            return AnswerDifference("work", (name,))
    return None


# Texts


@dataclass(frozen=True)
class SideBySide:
    """The names for the parts of a call, to describe its replies.

    inputs:  the names of the inputs that have gradients
    parts:   the subject of the result, with the names of the returned values
    place:   the line of an exception in the student's file is shown if this is True
    device:  the name of the device of the call
    """

    inputs: Sequence[str]
    parts: NamedParts
    on_gpu: bool = False

    def texts(
        self, found: AnswerDifference, right: Answer, mine: Answer | Outcome
    ) -> tuple[str, str]:
        """Return the expected and the actual reply as two short texts that differ."""
        if isinstance(mine, Outcome):
            return _result(right), printable(mine.message)[:_LONGEST] or "no answer"
        a, b = mine[0], right[0]
        match found.kind:
            case "exception" | "refusal" | "message":
                return _result(right), _result(mine)
            case "forbidden":
                return "no forbidden call", f"{printable(a.banned[0].call)} is called"
            case "missing" | "stopped":
                return _result(right), "there is no such name" if a.status == "missing" else "a result that is too large"
            case "state":
                return _state_texts(a.mismatch)
            case "device":
                where = ("on the GPU", "on the CPU")
                return where
            case "detached":
                return "a result with a gradient", "a result without a gradient"
            case "gradient":
                (index,) = found.path
                name = self.inputs[index] if index < len(self.inputs) else f"input {index + 1}"
                e, g = (read_answer(x)[1][index] for x in (right, mine))
                e = torch.zeros_like(g) if e is None else e
                g = torch.zeros_like(e) if g is None else g
                return _entries(e, g, f"gradient for {name}")
            case "effect" | "argument":
                (effect,) = found.path
                return _EFFECTS[effect.effect].format("unchanged"), _EFFECTS[effect.effect].format("changed")
            case "work" | "memory access":
                return _work_texts(found.path[0], a, b)
        return self._values(found, read_answer(right)[0], read_answer(mine)[0])

    def _values(self, found: AnswerDifference, expected: Any, actual: Any) -> tuple[str, str]:
        where = ""
        for key in found.path:
            if isinstance(expected, dict):
                where += f"[{key!r}]"
            elif not where:
                where = self.parts.part(key, len(expected)).strip("`")
            else:
                where += f"[{key}]"
            expected, actual = expected[key], actual[key]
        where = where[:1].lower() + where[1:]
        prefix = f"{where}: " if where else ""
        if found.kind == "shape":
            texts = tuple(f"{_short(x)}, shape {tuple(x.shape)}" for x in (expected, actual))
        elif found.kind == "dtype":
            texts = tuple(
                f"{_short(x)}, {str(x.dtype).removeprefix('torch.')}" for x in (expected, actual)
            )
        elif found.kind == "drawing":
            texts = drawing_texts(expected, actual)
        elif found.kind == "type":
            texts = tuple(f"{_type_name(x)} {_short(x)}" for x in (expected, actual))
        elif found.kind == "text":
            texts = expected, printable(actual)
        else:
            return _entries(expected, actual, where)
        return f"{prefix}{texts[0]}", f"{prefix}{texts[1]}"


def _short(value: Any) -> str:
    text = result_text(value, 2)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _type_name(value: Any) -> str:
    if isinstance(value, (frames.HandleV, frames.OpaqueV, Drawing)) or value is None:
        return ""
    return type(value).__name__


def _entries(expected: Any, actual: Any, where: str) -> tuple[str, str]:
    """Return the values, or of large arrays only the entry that differs most."""
    if is_array(expected) and as_tensor(expected).numel() > _MOST_SHOWN:
        x, y = (as_tensor(v) for v in (expected, actual))
        if not x.is_meta and not y.is_meta:
            gap = torch.nan_to_num((x.double() - y.double()).abs(), nan=torch.inf)
            same = (x == y) | (torch.isnan(x) & torch.isnan(y)) if x.is_floating_point() else x == y
            gap = torch.where(same, 0.0, gap)
            index = tuple(int(i) for i in np.unravel_index(int(gap.argmax()), tuple(gap.shape)))
            expected, actual = x[index].item(), y[index].item()
            where = f"{where}{list(index)}" if where else f"[{', '.join(map(str, index))}]"
    prefix = f"{where}: " if where else ""
    for digits in DIGITS:
        texts = [f"{prefix}{result_text(v, digits)}" for v in (expected, actual)]
        if texts[0] != texts[1]:
            break
    return texts[0], texts[1]


def _result(answer: Answer) -> str:
    reply = answer[0]
    if reply.raised is not None:
        text = f"raised {reply.raised.type}: {reply.raised.message}"
        return printable(text)[:_LONGEST].strip(": ")
    return _short(read_answer(answer)[0])


def _state_texts(found: frames.StateMismatch | None) -> tuple[str, str]:
    assert found is not None
    if found.missing or found.unexpected:
        return (
            f"parameters {', '.join(found.missing)}" if found.missing else "no more parameters",
            f"parameters {', '.join(map(printable, found.unexpected))}"
            if found.unexpected
            else "none of these parameters",
        )
    name, expected, actual = found.shapes[0]
    return f"{name} with shape {expected}", f"{name} with shape {actual}"


def drawing_texts(expected: Any, actual: Any) -> tuple[str, str]:
    """Return the first part of a drawing that differs, as two texts."""
    if not isinstance(expected, Drawing):
        if len(expected.axes) != len(actual.axes):
            return f"{len(expected.axes)} panels", f"{len(actual.axes)} panels"
        for number, (x, y) in enumerate(zip(expected.axes, actual.axes, strict=True)):
            if _kind_of_drawing(y, x) is not None:
                texts = drawing_texts(x, y)
                return f"panel {number + 1}: {texts[0]}", f"panel {number + 1}: {texts[1]}"
    looks: tuple[tuple[str, Callable[[Any], Any]], ...] = (
        ("number of images", lambda d: len(d.images)),
        ("first row at the top", lambda d: [i.top_row_first for i in d.images]),
        ("cells", lambda d: result_text([i.data for i in d.images], 3)),
        ("colours from and to", lambda d: [(i.vmin, i.vmax) for i in d.images]),
        ("x label", lambda d: d.xlabel.strip()),
        ("y label", lambda d: d.ylabel.strip()),
        ("title", lambda d: d.title.strip()),
        ("labels of the columns", lambda d: list(d.xticks)),
        ("labels of the rows", lambda d: list(d.yticks)),
        ("drawn on the given Axes", lambda d: d.same_axes),
    )
    for name, look in looks:
        x, y = look(expected), look(actual)
        if x != y and (x or name != "title"):
            return f"{name}: {x}", f"{name}: {printable(str(y))[:_LONGEST]}"
    return "the drawing", "another drawing"


_EFFECTS = {
    effect: f"{name} {{}}"
    for effect, name in {
        Effect.TENSOR: "the argument",
        Effect.TENSOR_SHAPE: "the argument's shape",
        Effect.ARRAY: "the argument",
        Effect.MODE: "the argument's training mode",
        Effect.SHARED_MEMORY: "memory of the argument",
        Effect.TORCH_RANDOM: "torch's random state",
        Effect.NUMPY_RANDOM: "NumPy's random state",
        Effect.PYTHON_RANDOM: "Python's random state",
    }.items()
} | {e: f"{e.value.replace('_', ' ')} {{}}" for e in Effect if e.name not in (
    "TENSOR TENSOR_SHAPE ARRAY MODE SHARED_MEMORY TORCH_RANDOM NUMPY_RANDOM PYTHON_RANDOM".split()
)}


def _work_texts(name: str, a: frames.Reply, b: frames.Reply) -> tuple[str, str]:
    mine, right = a.counts, b.counts
    assert mine is not None and right is not None
    if name in _COUNTS:
        return tuple(f"{getattr(c, name):,} {_COUNTS[name]}" for c in (right, mine))  # type: ignore[return-value]
    if name == "computed":
        return "all computation in kernels", f"{printable(mine.computed[0])} outside of kernels"
    if name == "launches":
        return "a kernel is launched", "no kernel is launched"
    if name == "programs":
        wanted, has = (", ".join(str(x.programs) for x in c.launches) for c in (right, mine))
        return f"programs per launch: {wanted}", f"programs per launch: {has}"
    if name == "refused":
        raised = next(x.refused for x in mine.launches if x.refused)
        return "compiles for a GPU", printable(f"{raised.type}: {raised.message}")[:_LONGEST]
    if name == "races":
        race = next(r for x in mine.launches for r in x.races)
        return "no race", f"{race.kind.replace('_', ' ')} by two programs"
    what = {"outside_loads": "loads", "outside_stores": "stores"}[name]
    count = sum(getattr(x, name) for x in mine.launches)
    return f"no {what} outside of the tensors", f"{count} {what} outside of the tensors"
