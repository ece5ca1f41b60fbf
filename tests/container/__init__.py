"""Grading in a container without privileges, as learning platforms run it."""
