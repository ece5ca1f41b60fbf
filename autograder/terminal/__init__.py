"""Terminal output that neutralizes control characters in untrusted text.

Theory of operation. Names, messages and file names may contain escape sequences written by a
student. All output of a command takes one of two paths that escape control characters (`visible` in
model/message_text.py). `print`, logs, warnings and tracebacks use the streams that `guard_streams`
installs; tables, notes and progress bars use `console.Terminal`. Escape sequences that rich
generates are kept, and rich markup in text is not interpreted.
"""
