"""Triton support."""
