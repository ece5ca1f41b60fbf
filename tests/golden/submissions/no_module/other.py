"""Handed in instead of the module."""

SIZE = 3
