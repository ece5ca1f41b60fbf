"""Operators that propose small edits, one module for each family of mistakes."""
