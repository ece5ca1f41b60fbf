"""The queue of submissions and the processes that grade them.

A submission that `queue.Queue.add` has returned is stored and graded once, even if the service is
killed at any moment. `dispatch` takes submissions from the queue and sends them to
`grading_process`. Start reading at `queue`.
"""

__all__ = ["dispatch", "grading_process", "queue", "queued_submission"]
