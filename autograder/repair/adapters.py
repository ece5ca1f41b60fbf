"""Wrap a whole exercise in an adapter that changes its inputs and outputs.

If tests pass with an adapter, the adapter shows what the code cannot handle, wherever in the code
that is: so an adapter has no line.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from .candidates import Edit
from .source_text import UNPARSABLE, parsed

AXES, TYPES, MEMORY, IN_PLACE = "number of axes", "kind of number", "memory", "in place"
WIDTH, LENGTH = "width of values", "number of keys"

_HEAD = """

def _adapted_(inner):
    def tensors(values):
        return [v for v in values if hasattr(v, "ndim") and hasattr(v, "reshape")]

    def each(value, made):
        if isinstance(value, (tuple, list)):
            return type(value)(each(v, made) for v in value)
        return made(value) if tensors([value]) else value

    def run(*args, **kwargs):
        given = tensors([*args, *kwargs.values()])
        main = next(iter(given), None)
        if main is None:
            return inner(*args, **kwargs)
"""
_PARTS = """
        large = [g for g in given if g.ndim > 1 and "float" in str(g.dtype)]
        if len(large) < 3:
            return inner(*args, **kwargs)
        queries, keys, values = large[:3]
        taken, size = {taken}
        axis = {axis}
        many = taken.shape[axis]
        if many == size:
            return inner(*args, **kwargs)

        def cut(a, start):
            if not {cut}:
                return a
            at = [min(n, many - 1) for n in range(start, start + size)]
            return a[..., at] if axis == -1 else a[..., at, :]

        def called(start):
            some = [each(a, lambda b: cut(b, start)) for a in args]
            return inner(*some, **{k: each(v, lambda b: cut(b, start)) for k, v in kwargs.items()})

        found = [called(start) for start in range(0, many, size)]
        whole = found if isinstance(found[0], (tuple, list)) else [(f,) for f in found]
        joined = []
        for place, parts in enumerate(zip(*whole)):
            first = parts[0]
            if {sliced}:
                first = torch.cat(parts, axis)
                first = first[..., :many] if axis == -1 else first[..., :many, :]
            joined.append(first)
        return joined[0] if whole is not found else type(found[0])(joined)

    return run

"""
_FOOT = """
        args = [each(a, before) for a in args]
        kwargs = {k: each(v, before) for k, v in kwargs.items()}
        return each(inner(*args, **kwargs), after)

    return run

"""
_BODIES = {
    AXES: """
        many, count = main.ndim, {count}
        lead = tuple(main.shape[: many - count + 1])

        def before(a):
            if a.ndim != many or many == count:
                return a
            if many < count:
                return a.reshape(*[1] * (count - many), *a.shape)
            if tuple(a.shape[: len(lead)]) != lead:
                a = a.expand(*lead, *a.shape[len(lead) :])
            return a.reshape(-1, *a.shape[len(lead) :])

        def after(a):
            if many == count:
                return a
            return a.reshape(*(lead if many > count else ()), *a.shape[max(count - many, 1) :])
""",
    TYPES: """
        halves = "float" in str(main.dtype) and main.dtype.itemsize < 4

        def cast(a, kind):
            return a.to(kind) if hasattr(a, "to") else a.astype(kind)

        def before(a):
            return a.float() if halves and hasattr(a, "float") and a.dtype == main.dtype else a

        def after(a):
            return cast(a, main.dtype) if "float" in str(a.dtype) else a
""",
    MEMORY: """
        def before(a):
            return a.contiguous() if hasattr(a, "contiguous") else a.copy()

        def after(a):
            return a
""",
    IN_PLACE: """
        def before(a):
            return a.clone() if hasattr(a, "clone") else a.copy()

        def after(a):
            return a
""",
}


_OF_PARTS = {
    WIDTH: {
        "taken": "values, keys.shape[-1]",
        "axis": "-1",
        "cut": "a is values",
        "sliced": "place == 0",
    },
    LENGTH: {
        "taken": "queries, keys.shape[-2]",
        "axis": "-2",
        "cut": "(a is queries or (a.ndim > 1 and a.shape[-2:] == (many, size)))",
        "sliced": "first.ndim > 1 and first.shape[-2] == size",
    },
}


def adapt(source: str, exercise: str, kinds: Iterable[tuple[str, int]]) -> Iterator[Edit]:
    """Yield the exercise in adapters of these kinds, each with a number of axes for AXES."""
    try:
        code = parsed(source)
    except UNPARSABLE:
        return
    definition = code.definitions.get(exercise)
    if definition is None:
        return
    end = len(code.data)
    for kind, count in kinds:
        text = f"{_HEAD}{_body(kind, count)}{_application(definition)}"
        yield Edit(0, exercise, kind, 0.0, ((end, end, text.encode()),))


def _body(kind: str, count: int) -> str:
    if kind in _BODIES:
        return f"{_BODIES[kind].replace('{count}', str(count))}{_FOOT}"
    body = _PARTS
    for name, text in _OF_PARTS[kind].items():
        body = body.replace(f"{{{name}}}", text)
    return body


def _application(definition: ast.FunctionDef | ast.ClassDef) -> str:
    name = definition.name
    if isinstance(definition, ast.FunctionDef):
        return f"{name} = _adapted_({name})\n"
    methods = {n.name for n in definition.body if isinstance(n, ast.FunctionDef)}
    if "backward" in methods:
        return (
            f"class _Adapted_:\n    apply = staticmethod(_adapted_({name}.apply))\n\n\n"
            f"{name} = _Adapted_\n"
        )
    method = "forward" if "forward" in methods else "__call__"
    return f"{name}.{method} = _adapted_({name}.{method})\n"
