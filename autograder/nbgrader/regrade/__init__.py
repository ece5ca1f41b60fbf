"""New scores after a hidden test was fixed, with a log and undo, and students' regrade requests.

`regrade` compares and writes scores. `regrade_log` makes every change undoable, completes an
interrupted one, and stores requests and answers. Start with `regrade`.
"""

__all__ = ["regrade", "regrade_log"]
