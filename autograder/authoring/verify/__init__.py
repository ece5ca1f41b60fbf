"""Verify a week before it is released (`autograder verify`).

A week is verified in parts, each of which can run in its own process and is remembered in
`proof_cache` until its inputs change: every exercise, the week as a whole, its public files, and
its lesson. A part returns a `Verification` with its gaps; no gap means that it is verified.

Start with `hidden_tests`, which runs the whole bank through the grading engine. `public_checks` and
`lesson_run` verify the files that students get, `mutants` searches for changes of the solution that
no test notices, `selection` finds the exercise or misconception that `--only` names, and
`proof_job` runs one part.
"""

__all__ = [
    "hidden_tests",
    "lesson_run",
    "mutants",
    "proof_cache",
    "proof_job",
    "public_checks",
    "results",
    "selection",
]
