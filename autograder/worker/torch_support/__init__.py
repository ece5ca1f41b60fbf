"""Torch support."""
