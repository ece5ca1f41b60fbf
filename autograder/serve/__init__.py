"""A service that grades submissions as they arrive: web page, `autograder submit`, the exchange.

Students, and anyone who can reach the port, may be lying: in names, files, headers and request
rates. Guarantees: no body is parsed before its sender is known and its size and rate are within
limits (`login`, `request_limits`, `views.routes`); students see only their own submissions; results
contain no hidden input and no expected value before feedback is released (`disclosure`); no name
that was sent becomes a path, except plain file names (`submissions.upload`); a receipt exists only
for a stored submission, and each is graded once, even if processes are killed at any moment
(`queue`, `gradebook`). Submissions run in the engine's sandbox in separate processes, never here.
Scores go to the result store and gradebook of `autograder grade`.

    web page, `autograder submit` ──► views ─┐
    nbgrader's exchange ──────► gradebook ───┴► submissions ──► queue ──► results
                                                                            │
                  gradebook, first results in the exchange ◄── gradebook ◄──┘

Start reading at `grading_service`; `start` runs it.
"""

__all__ = [
    "disclosure",
    "gradebook",
    "grading_service",
    "login",
    "queue",
    "request_limits",
    "shared_state",
    "start",
    "submissions",
    "tables",
    "views",
]
