"""The table of operators: which edits a search tries, and how soon.

Operators work on any array program and do not depend on exercises. Four classes of weights are
enough: operators that apply in few places come first, because they cost little; operators that
apply almost everywhere come last, because they fix mistakes by coincidence. The wording of the
kinds that operators propose is in `model.report.findings`.
"""

from __future__ import annotations

from . import (
    arithmetic,
    assignments,
    axes,
    control_flow,
    names,
    numerics,
    omissions,
    torch_idioms,
    triton_idioms,
)
from .patterns import ExpressionOperator, FunctionOperator, StatementOperator

_RARE = -0.5  # applies in few places
_COMMON = 1.0  # common mistakes
_MANY = 1.7  # applies in many places
_EVERYWHERE = 2.6

EXPRESSION_OPERATORS: tuple[tuple[ExpressionOperator, float], ...] = (
    (names.defaults, _RARE),
    (torch_idioms.gradient_counts, _RARE),
    (torch_idioms.copies, _RARE),
    (triton_idioms.offsets, _RARE),
    (triton_idioms.fill_values, _RARE),
    (triton_idioms.partial_tiles, _RARE),
    (triton_idioms.accumulators, _COMMON),
    (names.uncalled_layers, _COMMON),
    (names.unused_names, _COMMON),
    (torch_idioms.pictures, _COMMON),
    (omissions.rescaling, _COMMON),
    (axes.axes, _COMMON),
    (axes.diagonals, _COMMON),
    (axes.moved_back, _COMMON),
    (axes.orders, _COMMON),
    (arithmetic.roots, _COMMON),
    (arithmetic.scales, _COMMON),
    (arithmetic.comparisons, _COMMON),
    (torch_idioms.masks, _COMMON),
    (torch_idioms.functions, _COMMON),
    (torch_idioms.options, _COMMON),
    (control_flow.conditions, _COMMON),
    (numerics.overflow, _COMMON),
    (numerics.infinities, _COMMON),
    (numerics.gradients, _COMMON),
    (omissions.residuals, _COMMON),
    (omissions.guards, _COMMON),
    (names.sibling_names, _COMMON),
    (names.arguments, _MANY),
    (axes.einsum_subscripts, _MANY),
    (axes.sizes, _MANY),
    (arithmetic.brackets, _MANY),
    (arithmetic.operands, _MANY),
    (arithmetic.factors, _MANY),
    (arithmetic.assigned_factors, _MANY),
    (arithmetic.literals, _MANY),
    (torch_idioms.slices, _MANY),
    (torch_idioms.without_call, _MANY),
    (numerics.types, _MANY),
    (omissions.addends, _MANY),
    (numerics.results, _EVERYWHERE),
    (omissions.normalisation, _EVERYWHERE),
    (names.names, _EVERYWHERE),
)
STATEMENT_OPERATORS: tuple[tuple[StatementOperator, float], ...] = (
    (control_flow.buffers, _RARE),
    (control_flow.gradient_modes, _COMMON),
    (control_flow.refusals, _COMMON),
    (control_flow.missing_lines, _COMMON),
    (assignments.in_place, _COMMON),
    (assignments.assigned, _COMMON),
    (control_flow.removed, _MANY),
)
FUNCTION_OPERATORS: tuple[tuple[FunctionOperator, float], ...] = (
    (assignments.without_bias, _COMMON),
    (axes.same_wrong_axis, _COMMON),
    (control_flow.normalised_late, _COMMON),
    (control_flow.restored_mode, _COMMON),
    (control_flow.exchanged_statements, _COMMON),
    (control_flow.moved_across_loops, _COMMON),
)
