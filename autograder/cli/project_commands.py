"""The commands for instructors and authors, which a student's wheel does not contain."""

from . import (
    author_commands,
    grading_commands,
    history_commands,
    marking_commands,
    publishing_commands,
    serve_command,
)

__all__ = [
    "author_commands",
    "grading_commands",
    "history_commands",
    "marking_commands",
    "publishing_commands",
    "serve_command",
]
