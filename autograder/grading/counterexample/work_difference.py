"""Compare the work of a call with the solution's: operations, memory, and accesses of kernels."""

from collections.abc import Callable, Iterator

from ...worker.protocol.frames import Counts
from ...worker.protocol.messages import LaunchCounts
from ..outcomes import printable

COUNTS = {
    "largest": "elements in the largest new tensor",
    "flops": "floating-point operations",
    "kept": "elements that stay in memory besides the result",
    "ops": "calls of torch operators",
}
MEMORY_ACCESS = ("outside_loads", "outside_stores", "races")
_TIMES, _OPERATIONS = 4, 64  # work beyond four times the solution's, and 64 operations, is wrong
_LONGEST = 160  # characters of an error
_TIMES_ACCESSED = 2  # more than this many times the elements of the solution in one load is wrong

_OF_LAUNCH: dict[str, tuple[Callable[[LaunchCounts], int], str]] = {
    "loads": (lambda x: max((most for *_, most in x.loads), default=0), "loads of an element"),
    "access": (lambda x: x.largest, "elements in the largest load or store of a kernel"),
}


def _maximum(name: str, counts: Counts) -> int:
    count, _ = _OF_LAUNCH[name]
    return max(map(count, counts.launches), default=0)


def wrong_counts(mine: Counts, right: Counts) -> Iterator[str]:
    """Yield the names of counts that are certainly wrong, those that depend on style last.

    Repeated loads count only if the solution loads every element once.
    """
    for name in (*MEMORY_ACCESS, "refused"):
        if _any(name, mine) and not _any(name, right):
            yield name
    if mine.computed and not right.computed:
        yield "computed"
    if _maximum("loads", mine) > _maximum("loads", right) == 1:
        yield "loads"
    if _maximum("access", mine) > _TIMES_ACCESSED * max(_maximum("access", right), 1):
        yield "access"
    for name in COUNTS:
        if getattr(mine, name) > _TIMES * getattr(right, name) + _OPERATIONS:
            yield name
    if [x.programs for x in mine.launches] != [x.programs for x in right.launches]:
        yield "programs"


def _any(name: str, counts: Counts) -> bool:
    return any(getattr(launch, name) for launch in counts.launches)


def work_text(name: str, counts: Counts) -> str:
    """Describe one count of a call."""
    if name in COUNTS:
        return f"{getattr(counts, name):,} {COUNTS[name]}"
    if name == "computed":
        return f"computes outside of kernels: {', '.join(map(printable, counts.computed)) or '-'}"
    if name == "programs":
        return f"programs per launch: {', '.join(str(x.programs) for x in counts.launches)}"
    if name == "refused":
        raised = next((x.refused for x in counts.launches if x.refused), None)
        text = f"{raised.type}: {raised.message}" if raised else "compiles"
        return printable(text)[:_LONGEST]
    if name == "races":
        kinds = [race.kind.replace("_", " ") for x in counts.launches for race in x.races]
        return f"races: {', '.join(dict.fromkeys(kinds)) or 'none'}"
    if name in _OF_LAUNCH:
        return f"{_maximum(name, counts):,} {_OF_LAUNCH[name][1]}"
    return f"elements outside of the tensors: {sum(getattr(x, name) for x in counts.launches)}"
