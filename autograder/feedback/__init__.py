"""Feedback for students, rendered from reports: pages, notebook fragments, text and Markdown.

`view` groups a report's tests by cause and locates mistakes, `score_breakdown` explains the points,
and `render` produces the output. Start with `view`.

Names, messages and source lines in a report are untrusted, so templates escape them. Hidden tests
appear only by their claims and messages.
"""

__all__ = ["render", "score_breakdown", "view"]
