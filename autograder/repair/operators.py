"""The operators on expressions, with how soon each is tried: the lower, the sooner.

Each takes an expression and its function and gives texts that could stand in its place, with the
kind of mistake that they would mend. They hold for any array program; none knows an exercise.
"""

from __future__ import annotations

from . import arithmetic, axes, exchanges, idioms, missing, naming, numbers
from .reading import Operator

OPERATORS: tuple[tuple[Operator, float], ...] = (
    (missing.unused, 0.9),
    (missing.unused_argument, 0.9),
    (idioms.squeezed, 0.9),
    (idioms.colours, 0.9),
    (idioms.numbered, 0.9),
    (idioms.filled, 0.9),
    (idioms.copies, 0.9),
    (idioms.shifted_triangles, 0.9),
    (idioms.rescaled, 1.0),
    (idioms.moved_back, 1.0),
    (idioms.turned_masks, 1.0),
    (idioms.finite_maximum, 1.2),
    (idioms.renormalised, 1.4),
    (naming.likely_names, 1.3),
    (axes.axes, 1.0),
    (arithmetic.rooted, 1.0),
    (axes.diagonals, 0.9),
    (arithmetic.scales, 1.0),
    (exchanges.masks, 1.0),
    (exchanges.functions, 1.0),
    (exchanges.branches, 1.0),
    (arithmetic.comparisons, 1.0),
    (numbers.stability, 1.0),
    (missing.layers, 1.0),
    (missing.residual, 1.1),
    (missing.guards, 1.2),
    (missing.numbers_only, 1.2),
    (missing.pictures, 1.0),
    (numbers.gradients, 1.2),
    (axes.orders, 1.2),
    (exchanges.options, 1.1),
    (axes.dealt, 1.0),
    (arithmetic.regrouped, 1.4),
    (idioms.rounded_up, 1.3),
    (idioms.row_sums, 1.3),
    (exchanges.letters, 1.4),
    (exchanges.slices, 1.4),
    (arithmetic.operands, 1.5),
    (naming.arguments, 1.5),
    (arithmetic.roots, 1.6),
    (exchanges.unwrapped, 1.7),
    (missing.added, 1.9),
    (arithmetic.factors, 1.7),
    (idioms.widths, 1.6),
    (axes.sizes, 1.8),
    (idioms.of_another, 1.8),
    (numbers.types, 1.8),
    (arithmetic.constants, 2.0),
    (numbers.wrapped, 2.2),
    (arithmetic.logs, 1.6),
    (naming.indices, 1.8),
    (naming.places, 2.2),
    (missing.normalised, 2.3),
    (arithmetic.divisors, 2.6),
    (naming.sums_of_names, 2.8),
    (naming.names, 3.0),
)
