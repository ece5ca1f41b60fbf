"""Feedback for students, rendered from reports: pages, notebook fragments, text and Markdown.

`view` groups a report's tests by cause and locates mistakes, `score_breakdown` explains the points,
and `render` writes the result. Start with `view`.

Names, messages and source lines in a report are not trusted: templates escape them, and hidden
tests appear only as claims.
"""

__all__ = ["render", "score_breakdown", "view"]
