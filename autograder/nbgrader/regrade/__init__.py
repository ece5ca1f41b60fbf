"""Regrade a week after a hidden test was fixed, undo a regrade, and answer regrade requests.

`regrade` compares and writes scores. `regrade_log` logs every regrade so that it can be undone, or
completed after an interruption, and stores regrade requests. Start reading at `regrade`.
"""
