"""Grade submissions with hidden pytest tests, on the trusted side of the sandbox.

Start with `engine.Engine`, which grades one submission after the other. It loads a submission into
a target (`targets`) and runs the hidden tests (`running`), whose vocabulary is in `assertions`.
Then the `judge` decides the result of each exercise: with correct helpers (`dependencies`), with
names for its mistakes (`naming`, `diagnosis`, `localization`), and only if it shows work
(`triviality`). `disclosure` limits how much messages reveal about hidden inputs.

A submission may lie in every reply, and may try to end or to block this process. So replies are
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
