"""Run a week's public checks in a separate process with time limits.

`launcher` starts the process and reads its events. `runner` is the program of that process, a
pytest plugin that imports the student's module, runs the checks, explains failures (`explain`), and
detects forbidden calls (`forbidden_calls`). `check_results` defines the results. `stages` checks
project folders, which combine several weeks.
"""
