"""Describe the results of checks in sentences for terminals and notebooks."""

from ...model.report.findings import CAUSES, question
from ..checks.check_results import CheckResult, ExerciseResult, Failure
from ..folder.lessons import heading_of, hints_of, load_state

MARKS = {
    **{"pass": "✓", "fail": "✗", "open": "○", "waiting": "○"},
    **{"skipped": "-", "unknown": "?", "changed": "?"},
}
PLAIN_MARKS = MARKS | {"pass": "+", "fail": "x", "open": "o", "waiting": "o"}
OUT_OF_MEMORY = "can't allocate memory"  # torch raises RuntimeError with this message
STATES = {
    "open": "not written yet",
    "waiting": "waits for another exercise",
    "skipped": "cannot run here",
    "unknown": "not checked yet",
    "changed": "changed since the last check",
}


def points(value: float) -> str:
    return f"{value:g} point{'' if value == 1 else 's'}"


def status(result: ExerciseResult) -> str:
    """Describe an exercise's state in a few words."""
    if result.state in STATES:
        return STATES[result.state]
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
    """Return the distinct reasons why exercises cannot be checked on this machine."""
    reasons = (e.first.skipped for e in result.exercises if e.state == "skipped" and e.first)
    return list(dict.fromkeys(reasons))


def first_failure(result: CheckResult) -> ExerciseResult | None:
    """Return a failing exercise, or None if no exercise fails.

    Return the first that calls no failing exercise or, if all do, the first that fails.
    """
    failing = [e for e in result.exercises if e.state == "fail" and e.first]
    return min(failing, key=lambda e: bool(e.uses), default=None)


def inherited(result: ExerciseResult) -> str:
    """Return a sentence that names the failing exercises that an exercise calls."""
    names = " and ".join(f"`{name}`" for name in result.uses)
    also, first = ("fail", "those") if len(result.uses) > 1 else ("fails", "that")
    return f"It calls {names}, which also {also}: fix {first} first, and this may pass too."


def cause(failure: Failure, exercise: str, module: str) -> str:
    """Describe a failure in a sentence, or return the check's own message."""
    kind, error = str(failure.kind), failure.error
    if kind == "ended":
        kind = {"": "exited", "SIGKILL": "killed"}.get(error, "crashed")
    elif kind == "raised":
        kind = f"raised {'MemoryError' if OUT_OF_MEMORY in failure.message else error}"
    if text := CAUSES.get(kind):
        return text.format(exercise=exercise, module=module, failure=failure)
    if failure.kind == "raised":
        return f"{error}: {failure.message}" if failure.message else error
    return failure.message or "The result is not correct."


def lines_to_check(failure: Failure) -> str:
    """Return a sentence with the lines where the mistake may be, or "" if they are unknown."""
    lines = [f"line {p.line} ({question(p.kind)})" for p in failure.places]
    return f"Look at {', or at '.join(lines)}." if lines else ""


def summary(result: CheckResult) -> str:
    """Summarize a result: the number of exercises that pass, and the points to go."""
    count = len(result.exercises)
    if result.passed:
        return (
            f"All public checks pass{'' if count == 1 else ': you can submit'}. The hidden tests "
            "also try other shapes, dtypes and devices."
        )
    to_go = f"{points(result.open_points)} to go"
    if count == 1:
        return to_go
    passing = sum(e.state == "pass" for e in result.exercises)
    return f"{passing} of {count} exercises pass their public checks · {to_go}"


def next_steps(result: CheckResult) -> list[tuple[str, str]]:
    """Return the suggested next steps as pairs of a command or place in the files and a remark."""
    to_write = (e for state in ("open", "waiting") for e in result.exercises if e.state == state)
    chosen = first_failure(result) or next(to_write, None)
    if result.broken or chosen is None:
        return []
    folder, steps = result.folder, []
    if total := len(hints_of(folder, chosen.name)):
        shown = load_state(folder.memory).hints.get(chosen.name, 0)
        remark = f"hint {shown + 1} of {total}" if shown < total else "all hints shown"
        steps.append((f"autograder hint {chosen.name}", remark))
    if chosen.first and chosen.first.failure and chosen.first.failure.kind in ("wrong", "raised"):
        test = chosen.first.test.split("[")[0]
        steps.append((f"test_{result.module}, {test}", "the check itself"))
    if place := heading_of(folder, chosen.name):
        steps.append((place, ""))
    return steps
