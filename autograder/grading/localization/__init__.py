"""Locate the mistakes of a wrong submission by line.

There are five methods, and none changes a verdict. `declarations` finds signatures that
reject calls and parameters that do not load. `distinctive_code` finds code that a named
misconception contains and no correct program does. `traces` finds expressions whose values no
correct program computes. `repair_search` tries small edits of the code until failing tests pass.
`reply_evidence` uses side effects and memory accesses that replies report. The submission runs in
its sandbox and may report false values, so a wrong value in a trace can only select a line of the
submission. `judge` gives points for correct values in a trace, and for the rest of a program if
hidden tests pass with an edit. Users see lines and kinds of mistakes, never an edit or a correct
value.

Start with `localizer.LineFinder`, which the engine calls for each wrong exercise.
`benchmarks/ablation.py` measures the contribution of each part.
"""

__all__ = [
    "candidate_runner",
    "declarations",
    "distinctive_code",
    "localizer",
    "repair_search",
    "reply_evidence",
    "traced_runs",
    "traces",
    "value_rows",
]
