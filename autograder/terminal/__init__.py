"""Terminal output that neutralizes control characters in other people's text.

Theory of operation. Names, messages and file names may contain escape sequences written by a
student. Everything that a command prints goes through one of two paths, and both replace control
characters by visible text (model/visible.py): `print`, logs, warnings and tracebacks through the
streams installed by `guard_streams`; tables, notes and progress bars through `console.terminal()`.
rich's own sequences pass, because they are not text, and rich's markup in text is not interpreted.
"""

__all__ = ["console", "streams"]
