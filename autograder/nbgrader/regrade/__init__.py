"""Regrade."""
