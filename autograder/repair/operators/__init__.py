"""Operators that propose small edits, one module for each family of mistakes.

`repair.candidates` lists all operators with their weights.
"""

__all__ = ["arithmetic", "axes", "control_flow", "library_idioms", "names", "numerics"]
