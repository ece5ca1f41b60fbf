"""Create courses, weeks and exercises from templates (`autograder new`).

`new_week` writes a complete, working week; `new_exercise` adds an exercise to a week. `course_yaml`
edits the registry without touching its comments. Parts that only an author can write are marked
`FILL IN`, and `verify` reports every remaining mark.
"""

__all__ = ["course_yaml", "new_exercise", "new_week"]
