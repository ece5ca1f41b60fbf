"""A check's result in words, shared by the terminal and the notebook."""

from __future__ import annotations

import re
from pathlib import Path

from ...model.errors import KitError
from ...repair.edit_wording import question
from ..checks.results import CheckResult, ExerciseResult, Failure
from ..folder.lessons import heading_of
from ..folder.week import open_folder
from .hints import seen, stages_of

MARKS = {"pass": "✓", "fail": "✗", "open": "○", "waiting": "○", "skipped": "-"}
# What a stub imports, by the names that code uses.
_IMPORTED = ("torch", "np", "math", "nn", "F", "plt", "tl", "triton")
_UNKNOWN = re.compile(r"^name '(\w+)' is not defined")
PLAIN_MARKS = {"pass": "+", "fail": "x", "open": "o", "waiting": "o", "skipped": "-"}


def points(value: float) -> str:
    return f"{value:g} point{'' if value == 1 else 's'}"


def standing(result: ExerciseResult) -> str:
    """How an exercise stands, in a few words."""
    if result.state == "open":
        return "not written yet"
    if result.state == "waiting":
        return "waits for another"
    if result.state == "skipped":
        return "cannot run here"
    if result.first and result.first.failure:
        if result.first.failure.kind in ("timeout", "ended"):
            return "was stopped"
        if result.first.failure.kind == "forbidden":
            return "not allowed"
    if not result.total:
        return "not checked"
    uses = f", uses {result.uses[0]}" if result.uses else ""
    return f"{result.passed} of {result.total} checks{uses}"


def obstacles(result: CheckResult) -> list[str]:
    """Why exercises cannot be checked here, each reason once."""
    reasons = (e.first.skipped for e in result.exercises if e.state == "skipped" and e.first)
    return list(dict.fromkeys(reasons))


def first_failure(result: CheckResult, focus: str = "") -> ExerciseResult | None:
    """What to explain: the first exercise that was begun and is not right, or the one in focus."""
    failing = [e for e in result.exercises if e.state == "fail" and e.first]
    failing.sort(key=lambda e: bool(e.uses))  # what only uses a broken one comes after it
    if focus:
        return next((e for e in failing if e.name == focus), None)
    return failing[0] if failing else None


def next_exercise(result: CheckResult, focus: str = "") -> ExerciseResult | None:
    """The exercise to work on: the one in focus, a failing one, or the first to be written."""
    chosen = next((e for e in result.exercises if e.name == focus), None)
    if chosen:
        return chosen
    order = [first_failure(result)]
    order += [e for e in result.exercises if e.state == "open"]
    order += [e for e in result.exercises if e.state == "waiting"]
    return next((e for e in order if e), None)


def inherits(result: ExerciseResult) -> str:
    """That an exercise fails which calls one that fails, as one sentence, or nothing."""
    if not result.uses:
        return ""
    names = " and ".join(f"`{name}`" for name in result.uses)
    return f"It uses {names}, whose own checks fail: correct that first, and this may pass too."


def cause(failure: Failure, exercise: str, module: str) -> str:
    """What happened, as one sentence or the check's own text."""
    if failure.kind == "missing":
        return (
            f"`{exercise}` is not in {module}. Was it renamed or deleted? "
            f"`autograder reset {exercise}` puts its stub back."
        )
    if failure.kind == "ended":
        return _ended(failure)
    if failure.kind == "asks":
        return (
            "It waits for somebody to type (`input()`), and nobody types while it is checked or "
            "graded: take what you need from the arguments."
        )
    if failure.kind in ("forbidden", "timeout"):
        return failure.message
    if failure.kind == "raised":
        return _raised(failure, module)
    if failure.kind == "waiting":
        return f"It uses `{failure.waits_for}`, which is not written yet."
    if failure.kind == "open":
        return "This part is not written yet."
    return failure.message or "The result is not as it should be."


def _raised(failure: Failure, module: str) -> str:
    if failure.error == "SystemExit":
        return "It ends Python (`exit()` or `quit()`): return a value instead."
    said = f"{failure.error}: {failure.message}" if failure.message else failure.error
    unknown = _UNKNOWN.search(failure.message) if failure.error == "NameError" else None
    if unknown and unknown[1] in _IMPORTED:
        said += f". Is its import missing at the top of {module}?"
    return said


def _ended(failure: Failure) -> str:
    if not failure.error:
        return f"Python ended with exit code {failure.message} while this ran. Does it call exit?"
    if failure.error == "SIGKILL":
        return "Python was killed (SIGKILL) while this ran. Did it use up the memory?"
    return (
        f"Python itself crashed ({failure.error}) while this ran, in compiled code, so that there "
        "is no exception and no line. Usual causes: a function that calls itself without end, an "
        "index or size far out of bounds, memory that is written to while something else uses it."
    )


def where(failure: Failure) -> str:
    """Where to look, as one sentence, or nothing."""
    told = [f"line {p.line} ({question(p.kind)})" for p in failure.places]
    return f"Look at {', or at '.join(told)}." if told else ""


def summary(result: CheckResult) -> str:
    done = sum(e.state == "pass" for e in result.exercises)
    if result.passed and len(result.exercises) == 1:
        return "All public checks pass. The hidden tests go further: other shapes, types, devices."
    if result.passed:
        return (
            "All public checks pass: hand it in. The hidden tests go further: other shapes, "
            "number types, devices."
        )
    if len(result.exercises) == 1:
        return f"{points(result.open_points)} open"
    passing = f"{done} of {len(result.exercises)} pass their public checks"
    return f"{passing} · {points(result.open_points)} open"


def next_steps(result: CheckResult, focus: str = "") -> list[tuple[str, str]]:
    """What to do now, as (command or place, remark)."""
    chosen = next_exercise(result, focus)
    if result.broken or result.problem or chosen is None or chosen.state == "pass":
        return []
    try:
        folder = open_folder(Path(result.folder))
    except KitError:
        return []
    steps = []
    stages = stages_of(folder, chosen.name)
    if stages:
        number = seen(folder, chosen.name)
        remark = f"hint {number + 1} of {len(stages)}" if number < len(stages) else "all were shown"
        steps.append((f"autograder hint {chosen.name}", remark))
    if chosen.first and chosen.first.failure and chosen.first.failure.kind in ("wrong", "raised"):
        steps.append(
            (f"test_{result.module}, {chosen.first.test.split('[')[0]}", "the check itself")
        )
    place = heading_of(folder, chosen.name)
    if place:
        steps.append((place, ""))
    return steps
