"""Exchange weeks, submissions and grades with other systems.

`github` writes template repositories, `git` collects submissions from repositories,
`gradescope_zip` builds Gradescope autograders that run `in_container`, and `grades` pushes grades
to Canvas and to LTI platforms.
"""

__all__ = ["git", "github", "grades", "gradescope_zip", "in_container", "kit_files"]
