"""Exchange weeks, submissions and grades with other systems.

`github` writes template repositories, `git` collects submissions from repositories,
`gradescope_zip` builds Gradescope autograders that run `in_container`, and `push` sends grades to
`canvas` and `lti` platforms, each exactly once even if a push is interrupted.
"""

__all__ = [
    "canvas",
    "git",
    "github",
    "gradescope_zip",
    "http_client",
    "in_container",
    "lti",
    "push",
]
