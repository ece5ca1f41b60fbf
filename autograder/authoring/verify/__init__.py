"""Verify a week before it is released (`autograder verify`).

A week is verified in parts, each of which can run in its own process and is remembered until its
inputs change (`proofs`): every exercise, the week as a whole, its public files, and its lesson. A
part returns a `Verification` with its gaps; no gap means that it is verified.

Start with `hidden_tests`, which runs the whole bank through the grading engine. `public_files`
verifies the files that students get, `mutants` searches for changes of the solution that no test
notices, and `week_parts` finds the exercise or misconception that `--only` names.
"""

__all__ = ["hidden_tests", "mutants", "proofs", "public_files", "week_parts"]
