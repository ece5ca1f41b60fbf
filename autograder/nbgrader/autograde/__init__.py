"""Autograde."""
