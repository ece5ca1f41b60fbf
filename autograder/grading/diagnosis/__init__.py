"""Name the mistakes in an exercise from its answers in failed tests.

`match_bank.diagnose` finds the misconceptions in the bank that fail the same tests for the same
reason. `equivalence` decides whether two failures are the same. `symptoms` describes failures that
no misconception explains. The submission controls the answers, which may therefore contain anything
that the protocol can encode.
"""

__all__ = ["equivalence", "match_bank", "symptoms"]
