"""Disclosure."""
