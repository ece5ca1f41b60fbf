"""Count the modules and functions of the kit that one submission uses in the trusted process.

    python -m benchmarks.touched [WEEK] [--wrong MISCONCEPTION] [--in-process]

A warm engine grades a correct submission (the solution) and a wrong one (a misconception). Before,
it has graded the other misconceptions of the exercise, and the same program with a comment, so that
one-time work, such as recording the solution's outputs, does not count. The wrong program is graded
with its misconception in the bank, and again after the misconception has been removed, so that the
mistake must be located by a search.

A module counts if one of its functions is called; importing a module is not enough. Code in the
sandboxed process does not count.
"""

from __future__ import annotations

import argparse
import sys
import threading
from collections import defaultdict
from pathlib import Path
from types import FrameType

import autograder
from autograder.grading.engine import Engine
from autograder.grading.warmup import warm_engine
from autograder.model.course import load
from autograder.sandbox import choose

from .measure import ROOT
from .results import table, write_section

_SECRET = b"which modules run needs no secret"  # seed of the hidden inputs
_KIT = Path(autograder.__file__).parent


class Touched:
    """A profile function that records the kit's functions that are called, by module."""

    def __init__(self) -> None:
        self.functions: dict[str, set[str]] = defaultdict(set)

    def __call__(self, frame: FrameType, event: str, argument: object) -> None:
        code = frame.f_code
        if event == "call" and code.co_name != "<module>":
            path = Path(code.co_filename)
            if path.is_relative_to(_KIT):
                self.functions[str(path.relative_to(_KIT))].add(code.co_qualname)


def grade(engine: Engine, source: str) -> Touched:
    """Grade a submission; return the functions that were called."""
    touched = Touched()
    threading.setprofile(touched)
    sys.setprofile(touched)
    try:
        report = engine.grade("student", {engine.week.module: source.encode()})
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    if report.verdict != "graded":
        raise RuntimeError(report.message)
    return touched


def grade_again(engine: Engine, source: str) -> Touched:
    """Grade a program for two students; return the functions that the second grading called."""
    grade(engine, f"{source}\n# first student\n")
    return grade(engine, source)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("week", nargs="?", default="week01_softmax")
    parser.add_argument("--wrong", help="name of a misconception; default: the first one")
    parser.add_argument("--in-process", action="store_true", help="grade without a sandbox")
    chosen = parser.parse_args()
    course = load(ROOT)
    week = course.week(chosen.week)
    sandbox = None if chosen.in_process else choose()
    engine = warm_engine(course, week, ("cpu",), _SECRET, sandbox)
    try:
        engine.locate_mistakes(course.registry.suspects)
        known = engine.bank.misconceptions
        wrong = next(m for m in known if m.name == (chosen.wrong or known[0].name))
        for other in known:
            if other.exercise == wrong.exercise and other.name != wrong.name:
                engine.grade("student", {week.module: other.source.encode()})
        found = {
            "correct": grade_again(engine, engine.bank.solution),
            f"`{wrong.name}`": grade_again(engine, wrong.source),
        }
        # The bank caches its misconceptions in an attribute; remove one.
        vars(engine.bank)["misconceptions"] = tuple(m for m in known if m.name != wrong.name)
        engine.locate_mistakes(course.registry.suspects)
        found[f"`{wrong.name}`, not in the bank"] = grade_again(engine, wrong.source)
    finally:
        engine.close()
    for name, touched in found.items():
        print(f"{name}: {' '.join(sorted(touched.functions))}\n")
    rows = [
        (name, str(len(t.functions)), str(sum(map(len, t.functions.values()))))
        for name, t in found.items()
    ]
    body = f"{week.name}\n\n{table(('submission', 'modules', 'functions'), rows)}"
    write_section("touched", "Modules that one submission uses", body)


if __name__ == "__main__":
    main()
