"""Feedback for students, rendered from reports: pages, notebook fragments, text and Markdown.

`view` groups a report's tests by cause and describes where mistakes are, `score_breakdown` explains
the points, and `render` produces the output. Start with `view`.

Names, messages and source lines in a report are untrusted, so templates escape them. Feedback shows
the claims and messages of hidden tests, never their source code.
"""
