"""Limit how much feedback can reveal about hidden inputs.

Theory of operation. A submission sees hidden inputs while it runs, and it could encode them in its
replies: in names of exceptions and parameters, numbers, lines and results. So each word of a
message is chosen from names and numbers that the trusted side knows, and each choice costs bits of
a budget: `leak_budget.MessageBudget` for a message, `leak_budget.limit_disclosure` for a report.

Start with `failure_messages`, which turns a reply into a verdict with its message. `allowed_words`
decides which names a message may contain, `leak_budget.raising_lines` which lines, and
`known_errors` which sentences. `signatures` reads the names of arguments and results from the
solution.
"""

__all__ = [
    "allowed_words",
    "failure_messages",
    "known_errors",
    "leak_budget",
    "signatures",
]
