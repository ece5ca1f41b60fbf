"""The commands of instructors and authors; a student's wheel lacks them."""

from . import author, instructor, marking, overview, sending, service

__all__ = ["author", "instructor", "marking", "overview", "sending", "service"]
