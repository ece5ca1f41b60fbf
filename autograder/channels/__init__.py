"""Exchange weeks, submissions and grades with GitHub, git, Gradescope, Canvas and LTI platforms.

`github` writes template repositories, and `git` collects submissions from repositories.
`gradescope_zip` builds Gradescope autograders, which run `in_container`. `push` sends each grade to
a platform (`canvas`, `lti`) exactly once, even if a push is interrupted.
"""
