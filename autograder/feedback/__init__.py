"""Feedback for students, rendered from reports: pages, notebook fragments and text.

`view` groups a report's tests by cause and locates mistakes; `html` and `text` render the view, and
`score_breakdown` explains the points.

Names, messages and source lines in a report are not trusted: templates escape them, and
hidden tests appear only as claims. Start with `view`.
"""

__all__ = ["html", "score_breakdown", "text", "view"]
