"""From results to nbgrader's gradebook, and from nbgrader's exchange to the queue.

Every student may write anything into the exchange's inbound folder, so `exchange_inbox` checks
names and owners and copies without following links. `recording` writes results to the gradebook
in a child process and stores which ones are recorded. Recording is repeated after an
interruption and gives the same gradebook. Start reading at `recording`.
"""

__all__ = ["exchange_inbox", "recorded_history", "recording"]
