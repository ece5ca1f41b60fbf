"""Replay recorded calls with different arguments on any target.

A hidden test's requests are decoded to `Step`s. A step refers to an object by the step that made
it, so that steps can be dropped although the objects' numbers differ between programs.
"""

import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, Self

import msgspec
import torch

from ...worker.protocol import frames
from ...worker.protocol.frames import Answer, nested, request_of
from ...worker.protocol.values import TORCH_DTYPES, Decoder, Encoder
from ..assertions.case import Special
from ..comparator import is_array
from ..outcomes import Outcome
from ..targets.in_process import Steps, Target

AFTER_CALL = """
def arguments_after(owner, path, args, kwargs):
    called = submission if owner is None else owner
    for part in filter(None, path.split(".")):
        called = getattr(called, part)
    called(*args, **kwargs)
    return args, kwargs
"""
CELL_TEXTS = tomllib.loads(Path(__file__).with_name("notebook_cell.toml").read_text("utf-8"))
Pattern = Literal["ones", "eye", "counted", "normal"]


@dataclass(frozen=True)
class Made:
    """An object that a call returned. `place`: its index among the handles in the reply."""

    step: int
    place: int = 0


@dataclass(frozen=True)
class Step:
    """A call, with decoded arguments.

    key:     identifies the step in its sequence, even after other steps are dropped
    options: the recorded call, whose options apply, but not its values
    owner:   the object whose method is called, or None for a function of the module
    fill:    the pattern of a new module's weights, or None if `state` contains recorded weights
    state:   the weights of a new module; None if there are none, or if they follow from `fill`
    """

    key: int
    options: frames.Call
    owner: Made | None
    args: tuple[Any, ...]
    kwargs: dict[str, Any] = field(default_factory=dict)
    fill: Pattern | None = None
    state: dict[str, torch.Tensor] | None = None
    cotangents: tuple[torch.Tensor, ...] | None = None

    @property
    def public_module(self) -> str:
        """The file name of the public module whose function is called, or ""."""
        name, _, suffix = self.options.brought.rpartition(".")  # or the source of hidden code
        return self.options.brought if suffix == "py" and name.isidentifier() else ""

    @property
    def values(self) -> tuple[Any, ...]:
        """The arguments and the cotangents."""
        return (*self.args, *self.kwargs.values(), *(self.cotangents or ()))

    @property
    def objects(self) -> set[Made]:
        """The objects of earlier steps that this call needs."""
        found = {m for m in leaves_of(self.values) if isinstance(m, Made)}
        return found | ({self.owner} if self.owner else set())

    @property
    def uses(self) -> set[int]:
        """The keys of the steps that made these objects."""
        return {made.step for made in self.objects}

    @property
    def arrays(self) -> list[Any]:
        """The distinct arrays among the arguments."""
        arrays = (x for x in leaves_of((self.args, self.kwargs)) if is_array(x))
        return list({id(x): x for x in arrays}.values())

    def mapped(self, change: Callable[[Any], Any]) -> Self:
        """Return a copy whose arrays, lists and plain values are replaced by `change`."""
        memo: dict[int, Any] = {}
        given = None if self.cotangents is None else tuple(map(change, self.cotangents))
        return replace(
            self,
            args=tuple(_mapped(v, change, memo) for v in self.args),
            kwargs={k: _mapped(v, change, memo) for k, v in self.kwargs.items()},
            cotangents=given,
            state=None if self.fill is not None else self.state,
        )

    def with_options(self, **changes: Any) -> Self:
        options = msgspec.structs.replace(self.options, **changes)
        return replace(self, options=options)

    def bringing(self, source: str, function: str) -> Self:
        """Return a call of a function in another module, which gets this call as arguments."""
        step = self.with_options(brought=source, path=function)
        args = (self.owner, self.options.path, list(self.args), self.kwargs)
        return replace(step, owner=None, args=args, kwargs={}, cotangents=None)

    def frame(self, handles: Mapping[Made, int], fresh: bool) -> bytes:
        """Encode the call for a program. `handles`: the program's numbers of objects."""

        def special(thing: object, encoder: Encoder) -> frames.Value | None:
            if isinstance(thing, Made):
                return frames.HandleV(handles[thing], "", None)
            if isinstance(thing, Special):
                return frames.SpecialV(thing.kind, encoder(thing.value))
            return None

        encoder = Encoder(special=special)
        given = None if self.cotangents is None else tuple(map(encoder, self.cotangents))
        call = msgspec.structs.replace(
            self.options,
            handle=handles[self.owner] if self.owner else None,
            args=tuple(map(encoder, self.args)),
            kwargs={k: encoder(v) for k, v in self.kwargs.items()},
            state=encoder(self.state),
            cotangents=given,
            fresh=fresh,
            buffers=(),
        )
        return frames.pack(call, encoder.buffers)


def _mapped(value: Any, change: Callable[[Any], Any], memo: dict[int, Any]) -> Any:
    """Rebuild a value; equal references stay equal."""
    if id(value) in memo:
        return memo[id(value)][1]
    if isinstance(value, torch.Tensor):
        new = change(value.detach())
        new = new.detach().requires_grad_() if value.requires_grad else new
    elif isinstance(value, (tuple, list)):
        new = type(value)(_mapped(v, change, memo) for v in change(value))
    elif isinstance(value, dict):
        new = {k: _mapped(v, change, memo) for k, v in value.items()}
    elif isinstance(value, Special) and _has_arrays(value):  # texts, such as settings, stay
        content = _mapped(value.value, lambda v: v if isinstance(v, str) else change(v), memo)
        new = Special(value.kind, content)
    else:
        new = value if isinstance(value, (Made, Special)) else change(value)
    if is_array(value) or isinstance(value, list):
        memo[id(value)] = value, new
    return new


def _has_arrays(value: Special) -> bool:
    return value.kind not in ("dtype", "device", "expression", "generator")


def leaves_of(value: Any) -> Iterator[Any]:
    """Yield the innermost parts of a value."""
    if isinstance(value, (tuple, list)):
        for item in value:
            yield from leaves_of(item)
    elif isinstance(value, dict):
        yield from leaves_of(list(value.values()))
    elif isinstance(value, Special) and _has_arrays(value):
        yield from leaves_of(value.value)
    else:
        yield value


def decoded(steps: Steps, public: Mapping[str, str]) -> tuple[Step, ...]:
    """Decode the requests that a hidden test made to the solution.

    public: the sources of the week's public modules by file name, which replaces them in calls
    """
    names = {source: name for name, source in public.items()}
    made: dict[int, Made] = {}
    found = []
    for key, (frame, answer) in enumerate(steps):
        if not isinstance(request_of(frame)[0], frames.Call):
            continue
        step = read_step(key, frame, made.__getitem__)
        if step.options.construct and step.state is None and _state_of(answer):
            step = replace(step, fill="normal")  # initial weights are a matter of style
        brought = step.options.brought
        step = step.with_options(brought=names.get(brought, brought))
        found.append(step)
        for made_here, handle in _handles(answer, key):
            made.setdefault(handle, made_here)
    return tuple(found)


def read_step(
    key: int, frame: bytes, object_of: Callable[[int], Made], fill: Pattern | None = None
) -> Step:
    """Decode a request. `object_of`: return the object with a number."""

    def special(value: frames.Value, decoder: Decoder) -> Any:
        if isinstance(value, frames.HandleV):
            return object_of(value.id)
        if isinstance(value, frames.SpecialV):
            return Special(value.kind, decoder(value.value))
        return value

    request, buffers = request_of(frame)
    if not isinstance(request, frames.Call):
        raise frames.BadFrame("not a call")
    decode = Decoder(buffers, special=special, gradients=True)
    given = request.cotangents
    return Step(
        key,
        msgspec.structs.replace(
            request, args=(), kwargs={}, state=None, cotangents=None, buffers=()
        ),
        object_of(request.handle) if request.handle is not None else None,
        tuple(map(decode, request.args)),
        {k: decode(v) for k, v in request.kwargs.items()},
        fill,
        decode(request.state),
        None if given is None else tuple(map(decode, given)),
    )


def _state_of(answer: Answer | Outcome) -> dict[str, tuple[str, tuple[int, ...]]] | None:
    """Return the dtypes and shapes of a new module's weights, or None for any other answer."""
    value = answer[0].value if isinstance(answer, tuple) else None
    return value.state if isinstance(value, frames.HandleV) else None


def _handles(answer: Answer | Outcome, key: int) -> Iterator[tuple[Made, int]]:
    if isinstance(answer, tuple):
        ids = [v.id for v in nested((answer[0].value,)) if isinstance(v, frames.HandleV)]
        yield from ((Made(key, place), number) for place, number in enumerate(ids))


class Player:
    """Makes the calls of sequences on one target.

    public: the sources of the week's public modules by file name
    """

    def __init__(self, target: Target, exercise: str, public: Mapping[str, str]) -> None:
        self.target, self._exercise, self._public = target, exercise, public

    def play(self, steps: Sequence[Step]) -> list[Answer | Outcome]:
        """Return the replies, up to the first call that ends the process or lacks its object."""
        self.target.begin("counterexample", self._exercise)
        handles: dict[Made, int] = {}
        answers: list[Answer | Outcome] = []
        for step in steps:
            if any(m not in handles for m in step.objects):
                break
            if source := self._public.get(step.options.brought):
                step = step.with_options(brought=source)
            try:
                answer = self.target.request(step.frame(handles, fresh=not answers))
            except Outcome as outcome:
                return [*answers, outcome]
            answers.append(answer)
            handles.update(_handles(answer, step.key))
        return answers

    def filled(self, steps: Sequence[Step]) -> tuple[Step, ...]:
        """Replace each pattern of weights by the weights that the program's module has."""
        found: list[Step] = []
        for step in steps:
            if step.fill is not None and step.state is None:
                answers = self.play([*found, step])
                state = _state_of(answers[-1]) if len(answers) > len(found) else None
                if state is not None:
                    step = replace(step, state=weights(step.fill, state))
            found.append(step)
        return tuple(found)


def weights(
    pattern: Pattern, kinds: Mapping[str, tuple[str, tuple[int, ...]]]
) -> dict[str, torch.Tensor]:
    """Return weights in a pattern, by parameter name. `kinds`: their dtypes and shapes."""
    state, names = {}, {"torch": torch, "generator": torch.Generator().manual_seed(0)}
    for name, (dtype, shape) in sorted(kinds.items()):
        weight = torch.empty(shape, dtype=TORCH_DTYPES.get(dtype, torch.float32))
        values = eval(CELL_TEXTS["weights"][pattern]["values"], names, {"weight": weight})
        state[name] = values.to(weight.dtype)
    return state
