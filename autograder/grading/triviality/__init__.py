"""Triviality."""
