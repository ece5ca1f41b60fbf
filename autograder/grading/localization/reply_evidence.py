"""Locate mistakes that replies reveal by other properties than values.

A kernel reports the line of its first access outside of its tensors. A call that has a side effect,
or is refused and changes an object nevertheless, contains a statement that makes this change.
"""

import ast
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from ...model.report.findings import SHOWN
from ...model.report.schema import Suspect
from ...repair import function_definitions
from ...worker.protocol.frames import Answer, Reply, frame_path
from ..running.pytest_plugin import Ran
from .candidate_runner import Probe, WrongExercise

Functions = Mapping[str, ast.FunctionDef]

_NAMES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
_IN_PLACE = frozenset(_NAMES["in_place"].split())


def reply_places(wrong: WrongExercise, probes: Mapping[str, Probe]) -> tuple[Suspect, ...]:
    """Return the line that the replies of all failed tests point to, or () if they do not agree.

    probes: the requests of each test, with the solution's answers
    """
    functions = function_definitions(wrong.source, wrong.exercise)
    failed = [(r, probes[n].steps) for r in wrong.failing if (n := r.report.name) in probes]
    accesses = {_outside_access(ran) for ran, _ in failed} - {0}  # other tests do not count them
    effects = {_side_effect(ran, functions) for ran, _ in failed}
    changes = {_change_before_refusal(ran, steps, functions) for ran, steps in failed}
    for lines in (accesses, effects, changes):
        if len(lines) == 1 and (line := lines.pop()):
            return (Suspect(wrong.module, line, wrong.exercise, SHOWN),)
    return ()


def _replies(ran: Ran) -> list[Reply]:
    return [answer[0] for answer in ran.answers if isinstance(answer, tuple)]


def _outside_access(ran: Ran) -> int:
    """Return the line of a kernel that loads or stores outside of its tensors, or 0."""
    launches = (x for r in _replies(ran) if r.counts for x in r.counts.launches)
    found = (x.line for x in launches if x.outside_loads or x.outside_stores)
    return next(filter(None, found), 0)


def _side_effect(ran: Ran, functions: Functions) -> int:
    """Return the last line that has the side effect of the last call, or 0."""
    replies = _replies(ran)
    for effect in replies[-1].side_effects if replies else ():
        setters = _NAMES["setters"].get(effect.effect.value, "").split()
        nodes = (n for function in functions.values() for n in ast.walk(function))
        named = (n for n in nodes if isinstance(n, ast.Attribute) and n.attr in setters)
        changed = (n.lineno for n in named if not isinstance(n.ctx, ast.Load) or n.attr[0] != "_")
        return max(changed, default=0)
    return 0


def _change_before_refusal(
    ran: Ran, steps: Sequence[tuple[bytes, Answer]], functions: Functions
) -> int:
    """Return the first line that changes `self` in a method that refuses a call, or 0."""
    for (frame, (right, _)), mine in zip(steps, _replies(ran)[:-1], strict=False):
        if right.raised is not None and mine.raised is not None:
            function = functions.get(frame_path(frame).rpartition(".")[2])
            return min(_changed_lines(function), default=0) if function else 0
    return 0


def _changed_lines(function: ast.FunctionDef) -> Iterator[int]:
    """Yield the lines that change `self`."""
    for node in ast.walk(function):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            name, changed = node.func.attr, node.func.value
            changes = name in _IN_PLACE or name.endswith("_")
        elif isinstance(node, (ast.Attribute, ast.Subscript)):
            changed, changes = node, not isinstance(node.ctx, ast.Load)
        else:
            continue
        if changes and _is_of_self(changed):
            yield node.lineno


def _is_of_self(node: ast.expr) -> bool:
    """Return True for attributes of `self`, and for parts of them."""
    while isinstance(node, (ast.Subscript, ast.Attribute)):
        node = node.value
    return isinstance(node, ast.Name) and node.id == "self"
