"""HTML pages: the template environment and a safe renderer for untrusted Markdown.

Everything is escaped: templates use autoescape and no `safe` filter, which a test checks. Start
with `environment`; `markdown` is a trust boundary.
"""

__all__ = ["environment", "markdown"]
