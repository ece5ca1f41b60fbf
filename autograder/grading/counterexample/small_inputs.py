"""Store the small calls that show the misconceptions of the bank, and read them.

A search takes many calls, and most wrong programs are wrong on one of a few small inputs. The file
`small_inputs.json` beside the solution contains these inputs for each exercise, found by a search
for each misconception (`autograder build --inputs`). A submission makes these calls first, and only
a submission that answers all of them correctly is searched. The file contains no answers.
"""

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import msgspec

from ...worker.protocol import frames
from .call_cost import Calls, cost, needs_hidden_code
from .call_sequence import Made, Pattern, Step, read_step

FILE = "small_inputs.json"
_PLACES = 16  # objects that a call may return


class _StoredStep(msgspec.Struct, frozen=True, array_like=True):
    key: int
    frame: bytes
    fill: Pattern | None


class _StoredCalls(msgspec.Struct, frozen=True):
    """A sequence of calls. `call`: its text, for people who read the file."""

    call: str
    steps: tuple[_StoredStep, ...]


class _Numbers(dict[Made, int]):
    """Numbers of objects that follow from the steps which make them."""

    def __missing__(self, made: Made) -> int:
        return made.step * _PLACES + made.place


def read_inputs(folder: Path) -> dict[str, list[Calls]]:
    """Return the calls of each exercise, the smallest first; {} if there is no valid file."""
    try:
        found = {name: [_calls(one) for one in some] for name, some in _read(folder).items()}
    except frames.BadFrame:
        return {}
    return {name: sorted(some, key=cost) for name, some in found.items()}


def _read(folder: Path) -> dict[str, tuple[_StoredCalls, ...]]:
    with suppress(OSError, msgspec.MsgspecError):
        kind = dict[str, tuple[_StoredCalls, ...]]
        return msgspec.json.decode((folder / FILE).read_bytes(), type=kind)
    return {}


def write_inputs(folder: Path, found: Mapping[str, Mapping[str, Calls]]) -> Path:
    """Add calls to the file by their text, for `read_inputs`; return the file's path.

    Calls to code of the hidden tests are removed, because no student can make them.
    """
    stored, old = dict[str, list[_StoredCalls]](), _read(folder)
    for name, some in found.items():
        calls = [_StoredCalls(text, tuple(map(_stored, calls))) for text, calls in some.items()]
        kept = (c for c in old.get(name, ()) if not needs_hidden_code(_calls(c)))
        stored[name] = [*(c for c in kept if c.call not in some), *calls]
    path = folder / FILE
    path.write_bytes(msgspec.json.format(msgspec.json.encode(stored), indent=1) + b"\n")
    return path


def _stored(step: Step) -> _StoredStep:
    bare = step if step.fill is None else step.mapped(lambda value: value)
    return _StoredStep(step.key, bare.frame(_Numbers(), fresh=False), step.fill)


def _calls(one: _StoredCalls) -> Calls:
    return tuple(
        read_step(step.key, step.frame, lambda n: Made(*divmod(n, _PLACES)), step.fill)
        for step in one.steps
    )
