"""The way onto the terminal: nothing that a stranger wrote acts there.

Everything that a command prints goes one of two ways, and on both a control character is shown and
not obeyed (model/visible.py): `print`, logs, warnings and tracebacks through the streams that
`guard_streams` puts in place, tables, notes and progress bars through `console.terminal()`. Rich's
own sequences (colours, the bar) pass, because they are no text; its markup in a text is text.
"""
