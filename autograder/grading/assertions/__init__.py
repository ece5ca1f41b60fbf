"""The vocabulary of hidden tests: fixtures and functions that call programs and check results.

The fixtures make calls: `agree.f(x)` calls the submission and the reference and compares the
results, `refuses(ValueError).f(x)` requires an exception, `count.f(x)` counts operations, and
`submission.f(x)` and `reference.f(x)` return plain values. A failed check raises an `Outcome`. Its
message contains neither hidden inputs nor expected values (see `disclosure`).

Course authors import these names from `autograder.authors`. Start with `vocabulary.Agree.call`;
`case.Side.call` sends a call to a target, and `grading.comparator` defines every tolerance.
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
