"""Feedback for students, rendered from reports: pages, notebook fragments and text.

`view` groups a report's tests by cause; `html` and `text` render the view, `score_breakdown`
explains the points, and `suspect_lines` locates mistakes.

Names, messages and source lines in a report are not trusted: templates escape them, and
hidden tests appear only as claims. Start with `view`.
"""

__all__ = ["html", "manual_scores", "score_breakdown", "suspect_lines", "text", "view"]
