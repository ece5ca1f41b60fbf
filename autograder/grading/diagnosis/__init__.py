"""Name the mistakes of an exercise from the answers in its failed tests.

`match_bank` finds the misconceptions of the bank that fail the same tests in the same way, as
`equivalence` defines it. `symptoms` describes failures that no misconception explains. `probes`
replays the calls of a hidden test. All read the answers of a submission, which may be anything that
the protocol can encode. Start with `match_bank.diagnose`.
"""

__all__ = [
    "equivalence",
    "match_bank",
    "probes",
    "symptoms",
]
