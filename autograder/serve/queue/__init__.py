"""Queue submissions and grade them in separate processes.

A submission that `queue.Queue.add` has returned is stored, and graded once even if the service is
killed at any moment. `dispatch` sends queued submissions to the processes of `grading_process`.
Start reading at `queue`.
"""

__all__ = ["dispatch", "grading_process", "queue"]
