"""Create courses, weeks and exercises from templates (`autograder new`).

`new_week` writes a week that works as it is, `new_exercise` adds an exercise to a week or changes
nothing. `from_function` drafts an exercise from the author's own function: `function_source`
extracts it, `probing` guesses inputs for it, `proposals` suggests misconceptions. `course_yaml`
edits the registry without touching its comments. Whatever only an author can write is marked
`FILL IN`, and `verify` reports every mark that is left.
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
