"""Generate small edits of an exercise, one of which may fix it.

An operator proposes edits of one kind of code: an axis, an operand, a comparison, a scale, a cast,
a missing line. Operators work on any array program, do not depend on exercises, and contain no text
of a solution. Users never see the text of an edit, only its line and a description of its kind from
`model.report.findings`.

Each operator has a weight, and the search tries light edits first. Operators that apply in few
places come first, because they add few edits. Operators that apply almost everywhere come last,
because their edits often make tests pass by coincidence.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, islice

from . import function_scope
from .operators import axes, control_flow, expressions, library_calls
from .source_text import UNPARSABLE, Replacements, parsed

_MAX_EDITS = 4000
_MAX_NODES = 3000  # longer functions, which no exercise needs, have no edits
_CONSTRUCTOR_PENALTY = 1.5  # most mistakes are in the computation, not in the constructor

_RARE = -0.5  # applies in few places
_COMMON = 1.0  # fixes common mistakes
_MANY = 1.7  # applies in many places
_EVERYWHERE = 2.6  # applies almost everywhere

EXPRESSION_OPERATORS: tuple[tuple[function_scope.ExpressionOperator, float], ...] = (
    (library_calls.copies, _RARE),
    (library_calls.fill_values, _RARE),
    (library_calls.partial_tiles, _RARE),
    (expressions.uncalled_layers, _COMMON),
    (expressions.unused_names, _COMMON),
    (library_calls.pictures, _COMMON),
    (library_calls.rescaling, _COMMON),
    (axes.axes, _COMMON),
    (axes.orders, _COMMON),
    (axes.moved_back, _COMMON),
    (expressions.roots, _COMMON),
    (expressions.scales, _COMMON),
    (expressions.comparisons, _COMMON),
    (library_calls.masks, _COMMON),
    (library_calls.functions, _COMMON),
    (library_calls.options, _COMMON),
    (control_flow.conditions, _COMMON),
    (library_calls.overflow, _COMMON),
    (library_calls.gradients, _COMMON),
    (library_calls.guards, _COMMON),
    (expressions.sibling_names, _COMMON),
    (expressions.arguments, _MANY),
    (axes.sizes, _MANY),
    (expressions.brackets, _MANY),
    (expressions.operands, _MANY),
    (expressions.factors, _MANY),
    (expressions.literals, _MANY),
    (library_calls.slices, _MANY),
    (library_calls.without_call, _MANY),
    (library_calls.types, _MANY),
    (library_calls.addends, _MANY),
    (library_calls.results, _EVERYWHERE),
    (library_calls.normalisation, _EVERYWHERE),
    (expressions.names, _EVERYWHERE),
)
STATEMENT_OPERATORS: tuple[tuple[function_scope.StatementOperator, float], ...] = (
    (control_flow.gradient_modes, _COMMON),
    (control_flow.refusals, _COMMON),
    (control_flow.missing_lines, _COMMON),
    (control_flow.early_returns, _COMMON),
    (control_flow.in_place, _COMMON),
    (control_flow.removed, _MANY),
)
FUNCTION_OPERATORS: tuple[tuple[function_scope.FunctionOperator, float], ...] = (
    (axes.same_wrong_axis, _COMMON),
    (control_flow.normalised_late, _COMMON),
    (control_flow.exchanged_statements, _COMMON),
    (control_flow.moved_across_loops, _COMMON),
)


@dataclass(frozen=True)
class Edit:
    """A small edit of a module, at a line of a function."""

    line: int
    function: str
    kind: str  # the kind of mistake that the edit fixes (see `model.report.findings`)
    weight: float  # a sort key; the search tries light edits first
    replacements: Replacements  # byte ranges of the module and their new texts, from last to first
    more: tuple[int, ...] = ()  # additional lines to report
    operator: str = ""  # the name of the operator that proposed the edit

    @property
    def place(self) -> tuple[str, int]:
        """The function and the line."""
        return self.function, self.line

    @property
    def places(self) -> frozenset[tuple[str, int]]:
        """The reported lines, each as a pair of the function and the line."""
        return frozenset((self.function, n) for n in (self.line, *self.more))

    def applied(self, data: bytes) -> bytes:
        """Return the module `data` with this edit applied."""
        for start, end, text in self.replacements:
            data = data[:start] + text + data[end:]
        return data


def generate_edits(source: str, exercise: str, foreign: frozenset[str] = frozenset()) -> list[Edit]:
    """Return edits of an exercise and of the definitions that it uses, sorted by weight.

    Return an empty list if the module cannot be parsed or does not define the exercise.

    foreign: names of definitions that must not be edited (ignored for the exercise itself)
    """
    try:
        code = parsed(source)
    except UNPARSABLE:
        return []
    found: list[Edit] = []
    seen: set[Replacements] = set()
    scopes = function_scope.function_scopes(code, code.reachable(exercise, foreign - {exercise}))
    for edit in chain.from_iterable(map(_edits_of, scopes)):
        if edit.replacements not in seen:
            seen.add(edit.replacements)
            found.append(edit)
        if len(found) >= _MAX_EDITS:
            break
    return sorted(found, key=lambda e: e.weight)


def _edits_of(scope: function_scope.FunctionScope) -> Iterator[Edit]:
    penalty = _CONSTRUCTOR_PENALTY if scope.name.endswith("__init__") else 0.0
    nodes = list(islice(scope.walk(), _MAX_NODES + 1))
    if len(nodes) > _MAX_NODES:
        return

    def edit(several: function_scope.Several, weight: float, operator: object) -> Edit:
        first, *more = sorted({node.lineno for node, _ in several.mistake})
        replaced = scope.code.replacements(*several.mistake, *several.also)
        name = getattr(operator, "__name__", "")
        return Edit(first, scope.name, several.kind, weight + penalty, replaced, tuple(more), name)

    for node in nodes:
        if isinstance(node, ast.stmt):
            for change, weight in STATEMENT_OPERATORS:
                for kind, text in change(node, scope):
                    single = function_scope.Several(kind, [(node, text)])
                    yield edit(single, weight, change)
        elif isinstance(node, ast.expr) and _is_replaceable(node, scope):
            for operator, weight in EXPRESSION_OPERATORS:
                for kind, text in operator(node, scope):
                    if text != scope.text(node):
                        single = function_scope.Several(kind, [(node, f"({text})")])
                        yield edit(single, weight, operator)
    for propose, weight in FUNCTION_OPERATORS:
        for several in propose(scope, nodes):
            yield edit(several, weight, propose)


def _is_replaceable(node: ast.expr, scope: function_scope.FunctionScope) -> bool:
    """Return True if a parenthesised expression can replace this node."""
    if isinstance(node, (ast.Starred, ast.Slice)):
        return False
    if isinstance(getattr(node, "ctx", None), (ast.Store, ast.Del)):
        return False
    return not (isinstance(node, ast.Tuple) and isinstance(scope.parents.get(node), ast.Subscript))
