"""Web pages and JSON answers.

Senders may be lying: every route states who may use it, and `routes` checks each request before
its body is parsed. Results are redacted by `disclosure`, and templates escape everything.
`handlers` implements the routes; `view_models` and `class_view` compute their content. Start
reading at `routes`.
"""

__all__ = [
    "class_view",
    "handlers",
    "request_context",
    "routes",
    "view_models",
]
