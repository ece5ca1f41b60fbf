"""Read and write a week's folder on the student's machine.

Start with `week`, which defines WeekFolder and reads week.json. `source` analyses the module and
restores stubs, `lessons` reads hints and stores results, `slips` finds problems that no check
detects, and `packing` collects the files of a submission.
"""
