"""Doubles."""
