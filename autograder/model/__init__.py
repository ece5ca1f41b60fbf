"""The data model that all other packages share; it imports none of them but `worker.protocol`.

`course` reads course.yaml, `report` defines stored reports and scores, `source` analyses submitted
source code. The modules here are small and shared by many packages: `errors` is the hierarchy of
exceptions, `visible` and `quoting` make untrusted text safe to show, `extras` and `device_axes`
describe optional libraries and devices.
"""

__all__ = [
    "course",
    "device_axes",
    "errors",
    "extras",
    "notes",
    "pytest_options",
    "quoting",
    "report",
    "source",
    "spelling",
    "submission_zip",
    "timestamps",
    "visible",
]
