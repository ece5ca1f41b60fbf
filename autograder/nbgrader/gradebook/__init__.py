"""Gradebook."""
