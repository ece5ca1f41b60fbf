"""Small edits of a submission's code, and the means to compare programs by their text and values.

Graders and students' own checks look for the edit that makes failing tests pass: its line is where
the mistake is. This package proposes edits and rewrites text; it never runs a submission, and it
imports nothing of the grader, because the students' package contains it. Texts come from
submissions: everything accepts any text, and a text that cannot be parsed has no edits.

Start with `candidates.generate_edits`; the operators are listed in `operators/table.py`.
"""

from .adapters import adapt
from .candidates import Edit, generate_edits
from .normal_form import NormalForm, normal_form, normal_form_of_module
from .source_text import (
    UNPARSABLE,
    foreign_lines,
    parameters,
    shared_definitions,
    unread_parameters,
    without_unused_definitions,
)

__all__ = [
    "UNPARSABLE",
    "Edit",
    "NormalForm",
    "adapt",
    "foreign_lines",
    "generate_edits",
    "normal_form",
    "normal_form_of_module",
    "parameters",
    "shared_definitions",
    "unread_parameters",
    "without_unused_definitions",
]
