"""Grade submissions as they arrive from the web page, `autograder submit` and the exchange.

Everything that students, or anyone who can reach the port, send is untrusted: names, files, headers
and request rates. Guarantees:

- A body is parsed only after its sender, size and rate have been checked (`login`,
  `request_limits`, `views.routes`).
- Students see only their own submissions. Until feedback is released, results contain neither
  hidden inputs nor expected values (`attempt_feedback`).
- Of all names in a request, only plain file names become paths (`submissions.upload`).
- A receipt exists only for a stored submission. Each submission is graded once, even if processes
  are killed at any moment (`queue`, `recording`).

Submissions run in the engine's sandbox in separate processes, never in the service's process.
Scores go to the result store and gradebook of `autograder grade`.

    web page, `autograder submit` ──► views ──┐
    nbgrader's exchange ──► exchange_inbox ───┴► submissions ──► queue ──► dispatch
                                                                            │
                 gradebook ◄── recording ◄── results ◄── grading_process ◄──┘

Start reading at `grading_service`; `start` runs it.
"""

__all__ = [
    "attempt_feedback",
    "dispatch",
    "exchange_inbox",
    "grading_process",
    "grading_service",
    "login",
    "queue",
    "recording",
    "request_limits",
    "shared_state",
    "start",
    "submissions",
    "tables",
    "views",
]
