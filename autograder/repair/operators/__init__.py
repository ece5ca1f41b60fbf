"""Operators that propose small edits, one module for each family of mistakes.

`table` lists all operators with their name, weight and function.
"""

__all__ = ["table"]
