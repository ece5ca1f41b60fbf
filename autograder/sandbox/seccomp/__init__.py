"""Seccomp."""
