"""A course as its authors describe it: course.yaml and the folders that it names.

`load` reads course.yaml into a `Course` and raises a CourseError that names the file, the path to
the wrong value and the fix. Everything else in the kit is derived from this object or from the
folder tree; no other module reads course.yaml.

`registry` defines the types and `loader` reads them: `yaml_text` parses the YAML, `validation`
checks values, `folder_checks` checks that modules, graders and files exist. `bank` reads a week's
solution, alternatives and misconceptions, `stubs` turns a solution into the stub that students get,
and `late` computes penalties for late work.
"""

from .loader import find_root, load, parse
from .registry import (
    Course,
    Exercise,
    Extension,
    Immediate,
    Late,
    Limits,
    Lms,
    Nbgrader,
    Question,
    Registry,
    Scoring,
    Suspects,
    Week,
)
from .yaml_text import REGISTRY

__all__ = [
    "REGISTRY",
    "Course",
    "Exercise",
    "Extension",
    "Immediate",
    "Late",
    "Limits",
    "Lms",
    "Nbgrader",
    "Question",
    "Registry",
    "Scoring",
    "Suspects",
    "Week",
    "find_root",
    "load",
    "parse",
]
