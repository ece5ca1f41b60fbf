"""Grade submissions with hidden pytest tests, on the trusted side of the sandbox.

`Engine` grades one submission after the other; start reading there. It loads a submission into a
target (`targets`), runs the hidden tests (`running`), whose requirements are in `assertions`, and
lets the `judge` decide how each exercise ends: with correct helpers (`dependencies`), with names
for its mistakes (`naming`, `diagnosis`, `localization`), and only if it shows work (`triviality`).
`disclosure` limits how much the messages reveal about hidden inputs.

A submission may lie in every answer, and may try to end or to block this process. So answers are
decoded within bounds, every step after the verdicts is optional (`outcomes.BestEffort`), and a bug
in the grading system is a `grader_fault`, which never costs points.
"""

__all__ = [
    "comparator",
    "decoding",
    "engine",
    "judge",
    "naming",
    "outcomes",
    "warmup",
]
