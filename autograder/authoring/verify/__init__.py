"""Verify a week before it is released (`autograder verify`).

A week is verified in parts: every exercise, the week as a whole, its public files, and its lesson.
Each part can run in a separate process, and its result is stored until its inputs change
(`proofs`). The result is a `Verification`, whose list of gaps is empty if the part is verified.

Start with `hidden_tests`, which grades the programs of the bank. `public_files` verifies the files
that students get, `mutants` searches for changes of the solution that no test detects, and
`week_parts` finds the exercise or misconception that `--only` names.
"""
