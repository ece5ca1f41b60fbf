"""Handle HTTP requests: web pages for browsers, JSON for `autograder submit`.

Requests are untrusted. Every route declares who may use it, and `routes` checks each request before
its body is parsed. `attempt_feedback` redacts results, and templates escape all values. `handlers`
and `staff_handlers` implement the routes; `view_models`, `class_view`, `marking_view` and
`gradebook_view` compute the content of pages; `staff_log` records what staff change. Start reading
at `routes`.
"""
