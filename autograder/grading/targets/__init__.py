"""Targets are programs that receive the calls of hidden tests and reply to them.

Theory of operation. A `Target` takes request frames and returns replies, which are never passed to
hidden tests directly. `sandboxed.Sandboxed` runs a submission in a confined process. The submission
controls the other end of the socket and may hang, end, flood the grader or send invalid replies.
Each of these events raises an `Outcome` within the limits of course.yaml. `in_process.InProcess`
runs trusted code: the solution and the misconceptions.

Start with `in_process.Target`. `confined_process` starts processes and exchanges frames with them,
and `resource_limits` limits their time and memory.
"""

__all__ = ["confined_process", "in_process", "resource_limits", "sandboxed"]
