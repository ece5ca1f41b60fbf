"""Handle HTTP requests: web pages for browsers, JSON for `autograder submit`.

Requests are untrusted. Every route declares who may use it, and `routes` checks each request before
its body is parsed. `attempt_feedback` redacts results, and templates escape all values. `handlers`
implements the routes; `view_models` and `class_view` compute the content of pages. Start reading at
`routes`.
"""

__all__ = ["class_view", "handlers", "request_context", "routes", "view_models"]
