"""Read and validate the description of a course: course.yaml and the folders that it names.

`load` reads course.yaml into a `Course`. If a value is wrong, it raises a CourseError that names
the file, the path to the value and the fix. All other settings of the kit are derived from this
object or from the folder tree; no other module reads course.yaml.

`registry` defines the types, `loader` reads them, and `validation` checks values, modules, graders
and files. `bank` reads a week's solution, alternatives and misconceptions, `stubs` turns a solution
into the stub that students get, and `late` computes penalties for late work.
"""

from .loader import find_root, load, parse
from .registry import (
    REGISTRY,
    Counterexamples,
    Course,
    Exercise,
    Immediate,
    Limits,
    Scoring,
    Suspects,
    Week,
)

__all__ = [
    "REGISTRY",
    "Counterexamples",
    "Course",
    "Exercise",
    "Immediate",
    "Limits",
    "Scoring",
    "Suspects",
    "Week",
    "find_root",
    "load",
    "parse",
]
