"""Find the line of a mistake in a wrong submission.

Two means, neither of which changes a verdict or a score: the values of expressions are compared
with those of right programs and of known misconceptions (`traces`), and small edits of the code are
tried until failing tests pass (`repair_search`). The submission runs in its sandbox and may lie: a
trace is only used to choose a place in the submission's own text, and an edit counts only if the
hidden tests confirm it. Users see lines and kinds of mistakes, never an edit or a right value.

Start with `localizer.LineFinder`, which the engine calls for each wrong exercise; `tuning` lists
the constants, `benchmarks/ablation.py` measures what each part contributes.
"""

__all__ = [
    "candidate_runner",
    "localizer",
    "partial_repairs",
    "ranking",
    "repair_search",
    "trace_values",
    "traced_runs",
    "traces",
    "tuning",
]
