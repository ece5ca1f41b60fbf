"""Exchange assignments, submissions and grades with GitHub, git, Gradescope, Canvas and LTI.

`github` writes template repositories, and `git` collects submissions from repositories.
`gradescope_zip` builds Gradescope autograders, which run the program in `in_container`. `push`
sends each grade to a platform (`canvas`, `lti`) exactly once, even if a push is interrupted.
"""
