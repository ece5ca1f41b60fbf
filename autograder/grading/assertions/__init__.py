"""The vocabulary of hidden tests: call the submission and the reference, and compare.

The fixtures of a hidden test make calls: `agree.f(x)` calls both sides and compares everything,
`refuses(ValueError).f(x)` requires an exception, `count.f(x)` counts work, `submission.f(x)` and
`reference.f(x)` return plain values. A check that fails raises an `Outcome`; its message names
neither hidden inputs nor expected values (see `disclosure`).

Course authors import these names from `autograder.authors`. Start with `agree.Agree.call`;
`case.Side.call` sends a call to a target, and `grading.comparator` defines every tolerance.
"""

__all__ = [
    "agree",
    "call_comparison",
    "calls",
    "case",
    "figure_comparison",
    "inputs",
    "mismatch_text",
    "pair",
    "properties",
    "refuse",
    "value_comparison",
]
