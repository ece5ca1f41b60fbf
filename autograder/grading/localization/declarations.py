"""Locate mistakes in declarations: signatures that reject calls, parameters and layers.

A wrong signature or parameter ends a test before any value is computed, so there are no values to
compare. A wrong layer computes a wrong value only in another method.
"""

import ast
from collections.abc import Iterator

from ...model.report.findings import MAKES, SHOWN
from ...model.report.schema import Suspect, Verdict
from ...repair import function_definitions, parameter_definitions
from ...repair.function_scope import is_self
from ...worker.protocol.frames import StateMismatch
from .candidate_runner import WrongExercise

_LINES_REPORTED = 3


def declaration_places(wrong: WrongExercise, right: str) -> tuple[Suspect, ...]:
    """Return the lines of declarations that end failed tests, or () if there are none.

    right: the source of the solution
    """
    return tuple(_rejecting(wrong, right)) or tuple(_mismatched(wrong))


def attribute_places(wrong: WrongExercise, misconception: str) -> tuple[Suspect, ...]:
    """Return the line that creates the attribute which a misconception creates wrongly.

    Return () unless the misconception changes only the constructor, where it assigns to one
    attribute of the submission's class.

    misconception: the source of the bank's program
    """
    methods = function_definitions(misconception, wrong.exercise)
    if [*methods] != ["__init__"]:
        return ()
    assignments = (n for n in ast.walk(methods["__init__"]) if isinstance(n, ast.Assign))
    targets = (n for a in assignments for t in a.targets for n in ast.walk(t))
    names = {n.attr for n in targets if isinstance(n, ast.Attribute) and is_self(n.value)}
    created = parameter_definitions(wrong.source, wrong.exercise)
    lines = {created[name] for name in names & created.keys()}
    suspects = (Suspect(wrong.module, n, wrong.exercise, SHOWN) for n in lines)
    return tuple(suspects) if len(lines) == 1 else ()


def _rejecting(wrong: WrongExercise, right: str) -> Iterator[Suspect]:
    """Yield the signatures that reject calls which the solution's signatures accept."""
    raised = [r.last_raised for r in wrong.failing]
    # Calls that raise TypeError before they reach a line of the submission are rejected.
    rejected = sum(x is not None and x.type == "TypeError" and not x.line for x in raised)
    if not rejected:
        return
    mine = function_definitions(wrong.source, wrong.exercise)
    theirs = function_definitions(right, wrong.exercise)
    both = [(mine[n], theirs[n].args) for n in mine if n in theirs]
    narrower = [f for f, other in both if _accepts_fewer(f.args, other)]
    renamed = [f for f, other in both if not f.args.kwarg and _names(other) - _names(f.args)]
    for function in (narrower or renamed)[:1]:
        yield _suspect(wrong, function.lineno, Verdict.CRASHED.value, rejected)


def _suspect(wrong: WrongExercise, line: int, kind: str, count: int) -> Suspect:
    """Return a line that explains this number of failed tests."""
    alone = count == len(wrong.failing)
    return Suspect(wrong.module, line, wrong.exercise, kind, alone, 0 if alone else count)


def _accepts_fewer(mine: ast.arguments, theirs: ast.arguments) -> bool:
    """Return True if a signature requires more arguments or accepts fewer than another."""

    def count(some: ast.arguments) -> tuple[int, int]:
        positional = len(some.posonlyargs) + len(some.args)
        required = sum(default is None for default in some.kw_defaults)
        return positional - len(some.defaults) + required, positional + len(some.kwonlyargs)

    (needed, accepted), (usual, offered) = count(mine), count(theirs)
    open_ended = mine.vararg is not None or mine.kwarg is not None
    return needed > usual or (accepted < offered and not open_ended)


def _names(arguments: ast.arguments) -> set[str]:
    return {a.arg for a in (*arguments.args, *arguments.kwonlyargs)}


def _mismatched(wrong: WrongExercise) -> Iterator[Suspect]:
    """Yield the lines that create the parameters whose names or shapes are wrong."""
    replies = [r.last_reply for r in wrong.failing if r.last_reply]
    mismatches = [r.mismatch for r in replies if r.mismatch is not None]
    if not mismatches:
        return
    created = parameter_definitions(wrong.source, wrong.exercise)
    for line in _lines(mismatches[0], created)[:_LINES_REPORTED]:
        yield _suspect(wrong, line, MAKES, len(mismatches))


def _lines(mismatch: StateMismatch, created: dict[str, int]) -> list[int]:
    """Return the lines of wrong parameters, or of the constructor if a layer is missing.

    created: the line that creates each attribute; the line of the constructor for ""
    """
    wrong = (*(name for name, *_ in mismatch.shapes), *mismatch.unexpected, *mismatch.missing)
    found = dict.fromkeys(created[a] for n in wrong if (a := n.partition(".")[0]) in created)
    return sorted(found) or [line for name, line in created.items() if not name]
