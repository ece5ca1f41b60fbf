"""Targets: the programs that answer the calls of hidden tests.

Theory of operation. A `Target` takes request frames and returns replies; hidden tests see neither.
`sandboxed.Sandboxed` runs a submission in a confined process. The submission owns the other end of
the socket and may hang, die, lie or flood: every such event becomes an `Outcome`, within the limits
of course.yaml. `in_process.InProcess` runs trusted code, the solution and the misconceptions.

Start with `in_process.Target`. `confined_process` exchanges frames with one process,
`submission_clocks` keeps time, `byte_quota` bounds the memory that its answers take,
`socket_stream` reads replies under a deadline, and `spawner` provides processes.
"""

__all__ = [
    "byte_quota",
    "confined_process",
    "in_process",
    "sandboxed",
    "socket_stream",
    "spawner",
    "submission_clocks",
]
