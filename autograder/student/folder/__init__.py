"""Read and write the folder of a week, as students have it.

Start with `week`: WeekFolder, and the description in week.json. `source` analyses the module and
restores stubs, `lessons` reads hints and remembers results, `slips` finds problems that no check
detects, and `packing` collects the files of a submission.
"""

__all__ = ["lessons", "packing", "slips", "source", "week"]
