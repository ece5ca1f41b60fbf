"""Grade submissions as they arrive from the web page, `autograder submit` and the exchange.

All input from the network and from the exchange is untrusted: names, files, headers and request
rates. The service guarantees:

- A body is parsed only after its sender, size and rate have been checked (`login`,
  `request_limits`, `views.routes`).
- Students see only their own submissions. Until feedback is released, results contain neither
  hidden inputs nor expected values (`attempt_feedback`).
- File names are used as paths only if they are plain names (`submissions.upload`).
- A student gets a receipt only after the submission is stored. A stored submission is never lost
  and never gets two results, even if processes are killed at any moment (`queue`, `recording`).

Submissions run in the engine's sandbox in separate processes, never in the service's process.
Scores are recorded in the same result store and gradebook as those of `autograder grade`.

    web page, `autograder submit` ──► views ──┐
    nbgrader's exchange ──► exchange_inbox ───┴► submissions ──► queue ──► dispatch
                                                                            │
                 gradebook ◄── recording ◄── results ◄── grading_process ◄──┘

Start reading at `grading_service`, which is run by `start`.
"""
