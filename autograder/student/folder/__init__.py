"""Read and write the folder of a week, as students have it.

Start with `week`: WeekFolder, and the description in week.json. `packing` collects the files of a
submission, `reset` restores stubs, `slips` and `rule_warnings` report what the checks do not see,
and `state` remembers hints and results.
"""

__all__ = [
    "lessons",
    "packing",
    "released_solution",
    "reset",
    "rule_warnings",
    "slips",
    "source",
    "state",
    "week",
]
