"""Grade submissions with hidden pytest tests, on the trusted side of the sandbox.

`engine.Engine` is the entry point and grades one submission at a time. The engine loads the
submission into a target (`targets`) and runs the hidden tests on the target (`running`). Hidden
tests are written with the fixtures and functions in `assertions`. Then `judge` decides the result
of each exercise: it repeats tests with correct helpers (`dependencies`), names and locates mistakes
(`naming`, `diagnosis`, `localization`), and gives no points for trivial code (`triviality`).
`disclosure` limits how much messages reveal about hidden inputs.

A submission may forge every reply, and may try to crash or stall this process. Therefore replies
are decoded within size limits, and every step after the verdicts is optional
(`outcomes.BestEffort`). A bug in the grading system is reported as a `grader_fault`, which never
costs the student points.
"""

__all__ = ["comparator", "engine", "judge", "naming", "outcomes", "warmup"]
