"""Propose small edits of a submission's code, and instrument it to record its values.

The grader and the students' own checks search for an edit that makes failing tests pass, and report
the edited line as the line of the mistake. This package never runs a submission. It does not import
the grader, because it is part of the students' package. All exported functions accept any text as a
submission; a text that cannot be parsed has no edits.

Start with `candidates.generate_edits`; its module lists the operators.
"""

from .candidates import Edit, generate_edits
from .source_text import (
    UNPARSABLE,
    foreign_lines,
    function_definitions,
    parameter_definitions,
    parameters,
    required_parameters,
    shared_definitions,
    unread_parameters,
    without_unused_definitions,
)

__all__ = [
    "UNPARSABLE",
    "Edit",
    "foreign_lines",
    "function_definitions",
    "generate_edits",
    "parameter_definitions",
    "parameters",
    "required_parameters",
    "shared_definitions",
    "unread_parameters",
    "without_unused_definitions",
]
