"""Limit how much feedback can reveal about hidden inputs.

Theory of operation. A submission sees the hidden inputs while it runs and could encode them in its
replies: in the names of exceptions and parameters, in numbers, line numbers and results. A message
therefore contains only names and numbers that the trusted side already knows, and every choice
among them costs bits. `leak_budget.MessageBudget` limits the bits of one message, and
`leak_budget.limit_disclosure` limits the bits of a whole report.

Start with `failure_messages`, which turns a reply into a verdict and a message. `allowed_words`
decides which names a message may contain, `leak_budget.raising_lines` which line numbers, and
`known_errors` which error sentences. `signatures` reads the solution's argument and result names.
"""

__all__ = ["allowed_words", "failure_messages", "known_errors", "leak_budget", "signatures"]
