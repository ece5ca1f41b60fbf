"""The data model that all other packages share; it imports none of them but `worker.protocol`.

`course` reads course.yaml, `report` defines stored reports and scores, `source` analyses submitted
source code. The modules here are small and shared by many packages: `errors` is the hierarchy of
exceptions, `message_text` makes untrusted text safe to show, `availability` describes optional
libraries and devices, `submission_files` the zips, notes and times of submissions.
"""

__all__ = [
    "availability",
    "course",
    "errors",
    "message_text",
    "pytest_options",
    "report",
    "source",
    "submission_files",
]
