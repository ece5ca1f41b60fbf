"""Formgrader."""
