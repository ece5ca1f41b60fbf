"""Write results to nbgrader's gradebook, and queue submissions from nbgrader's exchange.

Every student may write anything into the exchange's inbound folder, so `exchange_inbox` checks
names and owners and copies without following links. `recording` writes results to the gradebook
in a child process and stores which ones are recorded. After an interruption,
recording is repeated and gives the same gradebook. Start reading at `recording`.
"""

__all__ = ["exchange_inbox", "recording"]
