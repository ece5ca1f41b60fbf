"""Run a week's public checks in a separate process with time limits.

`launcher` starts the process and reads its events, `runner` is the process: a pytest plugin that
imports the student's module (`importing`), runs the checks, explains failures (`explain`,
`mistake_lines`), and notes forbidden calls (`forbidden_calls`). `check_results` defines the
results. `stages` checks project folders.
"""

__all__ = [
    "check_results",
    "explain",
    "forbidden_calls",
    "importing",
    "launcher",
    "mistake_lines",
    "runner",
    "stages",
]
