"""Localization."""
