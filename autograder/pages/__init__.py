"""HTML pages: the template environment and a safe renderer for untrusted Markdown.

Templates escape everything: they use autoescape, and a test checks that none uses `safe`. Start
with `environment`; `markdown` is a trust boundary.
"""
