"""Assertions."""
