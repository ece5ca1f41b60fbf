"""Find the lines of the mistakes in a wrong submission.

There are two methods, and neither changes a verdict or a score. `traces` compares the values of
expressions with the values in correct programs and in known misconceptions. `repair_search` tries
small edits of the code until failing tests pass. The submission runs in its sandbox and may report
false values. So a trace only selects lines of the submission, and an edit counts only if the hidden
tests pass with it. Users see lines and kinds of mistakes, never an edit or a correct value.

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
