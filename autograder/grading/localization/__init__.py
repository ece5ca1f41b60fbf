"""Find the line of a mistake in a wrong submission.

There are two methods, and neither changes a verdict or a score. `traces` compares the values of
expressions with those of correct programs and of known misconceptions. `repair_search` tries small
edits of the code until failing tests pass. The submission runs in its sandbox and may lie, so a
trace is only used to choose a place in the submission's own text, and an edit counts only if the
hidden tests confirm it. Users see lines and kinds of mistakes, never an edit or a correct value.

Start with `localizer.LineFinder`, which the engine calls for each wrong exercise.
`benchmarks/ablation.py` measures the contribution of each part.
"""

__all__ = [
    "candidate_runner",
    "localizer",
    "repair_search",
    "traced_runs",
    "traces",
]
