"""Fixtures and functions that hidden tests use to call programs and check results.

`agree.f(x)` calls the submission and the reference and compares the results,
`refuses(ValueError).f(x)` requires an exception, and `count.f(x)` counts operations.
`submission.f(x)` and `reference.f(x)` call one program and return its result. A failed check raises
an `Outcome`, whose message contains neither hidden inputs nor expected values.

Course authors import these names from `autograder.authors`. `vocabulary.Agree.call` is a good place
to start reading. `case.Side.call` sends a call to a target.
"""

__all__ = [
    "call_comparison",
    "calls",
    "case",
    "inputs",
    "properties",
    "value_comparison",
    "vocabulary",
]
