"""Limit how much feedback can reveal about hidden inputs.

Theory of operation. A submission sees hidden inputs while it runs and chooses much of its replies:
names of exceptions and parameters, numbers in messages, lines, results. It could encode the inputs
in these. So every word of a message is chosen from names and numbers that the trusted side knows
anyway, every choice has a length in bits, and there are two budgets:

- `leak_budget.MessageBudget`: one message stays below 32 bits, too few for a float32
- `leak_budget.limit_disclosure`: one report stays below `SUBMISSION_BITS`

Start with `failure_messages`, which turns a reply into a verdict with its message. `allowed_words`
decides which names of a submission may be repeated, `leak_budget.raising_lines` which lines,
`known_errors` which sentences. `signatures` names arguments and results as the exercise's docstring
does.
"""

__all__ = [
    "allowed_words",
    "failure_messages",
    "known_errors",
    "leak_budget",
    "signatures",
]
