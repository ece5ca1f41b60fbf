"""Warn about code that the grader would refuse, and about slips that no check detects.

The rules of `model/source/rules.py` find plain calls in the source, such as `torch.softmax(x)`,
`x.softmax(-1)` and calls of imported names. Calls through an alias are found while the public
checks run (checks/forbidden_calls.py). The slips are code in the wrong file or place, a newer copy
of the module, a leftover `raise` from the stub, a second definition, code that never runs, and an
unsaved file.
"""

from collections.abc import Collection, Iterator, Sequence
from itertools import islice

from ...model.availability import importable
from ...model.source.reachable import Sources
from ...model.source.rules import refusals, texts_of
from ..checks.check_results import CheckOutcome, ExerciseResult, Failure
from .lessons import notebook_cells
from .source import oddities, statement_counts
from .week import DEFINITION, WeekFolder

_MAX_FILES = 200


def refused_outcomes(folder: WeekFolder, outcomes: list[CheckOutcome]) -> dict[str, CheckOutcome]:
    """Return a failed outcome for each exercise that the grader would refuse.

    The grader refuses exercises that break a rule in the submitted files, and exercises with
    forbidden calls, which `outcomes` contains.
    """
    files = {}
    for path in islice(sorted(folder.path.rglob("*.py")), _MAX_FILES):
        if path.is_file():
            files[path.relative_to(folder.path).as_posix()] = path.read_bytes()
    sources = Sources(texts_of(files), folder.week.module)
    libraries = importable(folder.week.libraries, folder.week.extras)
    found = refusals(sources, folder.week.rules, libraries=libraries)
    failures = {
        o.exercise: o.failure
        for o in reversed(outcomes)
        if o.failure and o.failure.kind == "forbidden"
    } | {e: Failure("forbidden", r.message, r.name[:60], line=r.line) for e, r in found.items()}
    return {n: CheckOutcome("", n, "only what is allowed", f) for n, f in failures.items()}


def find_slips(
    folder: WeekFolder, results: Sequence[ExerciseResult], unchanged: Collection[str]
) -> tuple[str, ...]:
    """Return a sentence for each slip, or () if all checks pass.

    unchanged: exercises whose previous check ran on an identical file.
    """
    failing = [r for r in results if r.state != "pass"]
    if not failing:
        return ()
    unwritten = [r.name for r in failing if r.state == "open"]
    absent = [r.name for r in failing if _kind(r) == "missing"]
    module, copies = folder.week.module, folder.newer_copies()
    notes = [f"{c.name} is newer than {module}: only {module} counts." for c in copies]
    notes += _defined_elsewhere(folder, [*unwritten, *absent], {c.name for c in copies})
    notes += _leftover_raises(folder, unwritten)
    notes += oddities(folder.source(), folder.week.stub, {r.name for r in failing})
    if unchecked := [f"`{r.name}`" for r in failing if r.state == "unknown"]:
        notes.append(f"{folder.checks.name} contains no check of {', '.join(unchecked)}.")
    if not notes and all(r.name in unchanged for r in failing):
        notes.append(f"{module} has not changed since your last check: is it saved?")
    return tuple(notes)


def _leftover_raises(folder: WeekFolder, unwritten: Sequence[str]) -> Iterator[str]:
    """Yield a sentence for each exercise that contains code but also still the stub's `raise`."""
    mine, stub = (statement_counts(text) for text in (folder.source(), folder.week.stub))
    for name in unwritten:
        if mine.get(name, 0) > stub.get(name, 0) > 0:
            yield (
                f"`{name}` contains code, but also still `raise NotImplementedError`: delete that "
                "line when you are done."
            )


def _defined_elsewhere(
    folder: WeekFolder, names: Sequence[str], copies: Collection[str]
) -> Iterator[str]:
    """Yield a sentence for each file, except those in `known`, that contains exercises' code."""
    places = {
        path.name: [
            n for k, s in notebook_cells(path) if k == "code" for n in DEFINITION.findall(s)
        ]
        for path in sorted(folder.path.glob("*.ipynb"))
    }
    places |= {p.name: found for p, found in folder.misplaced().items() if p.name not in copies}
    for place, defined in places.items():
        if found := [f"`{name}`" for name in names if name in defined]:
            yield (
                f"{place} defines {', '.join(found)}, but only {folder.week.module} is checked: "
                "move the code there."
            )


def _kind(result: ExerciseResult) -> str:
    return result.first.failure.kind if result.first and result.first.failure else ""
