"""The vocabulary of hidden tests: call the submission and the reference, and compare.

The fixtures of a hidden test make calls: `agree.f(x)` calls both sides and compares everything,
`refuses(ValueError).f(x)` requires an exception, `count.f(x)` counts work, `submission.f(x)` and
`reference.f(x)` return plain values. A check that fails raises an `Outcome`; its message names
neither hidden inputs nor expected values (see `disclosure`).

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
