"""Name the mistakes of an exercise from the answers in its failed tests.

Start with `match_bank.diagnose`, which finds the misconceptions of the bank that fail the same
tests for the same reason. `equivalence` decides whether two failures are the same. `symptoms`
describes failures that no misconception explains. `probes` replays the calls of a hidden test. The
answers come from a submission and may contain anything that the protocol can encode.
"""

__all__ = [
    "equivalence",
    "match_bank",
    "probes",
    "symptoms",
]
