"""Create courses, weeks and exercises from templates (`autograder new`).

`new_week` writes a complete, working week; `new_exercise` adds an exercise to a week.
`from_function` drafts an exercise from the author's own function: `function_source` extracts it,
`probing` guesses inputs for it, `proposals` suggests misconceptions. `course_yaml` edits the
registry without touching its comments. Parts that only an author can write are marked `FILL IN`,
and `verify` reports every remaining mark.
"""

__all__ = [
    "course_yaml",
    "from_function",
    "function_source",
    "new_exercise",
    "new_week",
    "probing",
    "proposals",
]
