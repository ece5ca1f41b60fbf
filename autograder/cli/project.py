"""The commands of instructors and authors; a student's wheel lacks them."""

from . import author, instructor, overview, sending, service

__all__ = ["author", "instructor", "overview", "sending", "service"]
