"""The operators that propose small edits, grouped by the code that they change.

`repair.candidates` lists all operators with their weights.
"""

__all__ = ["axes", "control_flow", "expressions", "library_calls"]
