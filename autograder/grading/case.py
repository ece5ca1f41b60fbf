"""One running hidden test: its axes, its inputs, and the sides that answer its calls."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch

from ..worker import wire
from ..worker.values import Decoder, Encoder
from .draw import Draw
from .drawn import read_special
from .echo import Echo
from .messages import crashed, forbidden, state_mismatch
from .names import Names
from .options import PLAIN, CallOptions
from .outcomes import BadReply, Crashed, GraderFault, LimitExceeded
from .ration import with_products
from .targets import Answer, Target

_VIEWS = 8 << 20
_ENCODER = "hf_encoder"  # an argument that is somebody else's model


@dataclass(frozen=True)
class Device:
    """The device axis of a test; passed as an argument it becomes a torch.device in the worker."""

    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Special:
    """An argument that only the worker can make (see wire.SpecialV)."""

    kind: Any
    value: Any


@dataclass(frozen=True)
class Seen:
    """One reply, decoded: what a call gave and did."""

    value: Any
    raw: wire.Value
    gradients: tuple[Any, ...] | None
    reply: wire.Reply


@dataclass
class Side:
    """A target as one test sees it: the student's, the reference, or the reference in float64."""

    target: Target
    device: str
    wide: bool = False
    is_reference: bool = True
    source: tuple[str, ...] = ()
    fresh: bool = True
    asked: list[wire.Call] = field(default_factory=list)  # in this test
    last: Answer | None = None  # what its last call was answered
    _widened: dict[int, tuple[torch.Tensor, torch.Tensor]] = field(default_factory=dict)

    def prepared(self, thing: Any) -> Any:
        """Float arguments in double precision where this side is the wide one."""
        if not self.wide:
            return thing
        if isinstance(thing, torch.Tensor) and thing.is_floating_point():
            # The same tensor twice is widened once: aliasing decides how many gradients there are.
            return self._widened.setdefault(id(thing), (thing, thing.double()))[1]
        if isinstance(thing, (np.ndarray, np.generic)) and thing.dtype.kind == "f":
            return thing.astype("float64")
        if isinstance(thing, (tuple, list)):
            return type(thing)(self.prepared(x) for x in thing)
        if isinstance(thing, dict):
            return {k: self.prepared(v) for k, v in thing.items()}
        if isinstance(thing, Special):
            return Special(thing.kind, self.prepared(thing.value))
        return thing

    def special(self, thing: object, encoder: Encoder) -> wire.Value | None:
        if isinstance(thing, Device):
            return wire.SpecialV("device", self.device)
        if isinstance(thing, torch.device):
            return wire.SpecialV("device", str(thing))
        if isinstance(thing, torch.dtype):
            return wire.SpecialV("dtype", str(thing).removeprefix("torch."))
        if isinstance(thing, slice):
            parts = [thing.start, thing.stop, thing.step]
            return wire.SpecialV("slice", encoder(parts))
        if isinstance(thing, Special):
            return wire.SpecialV(thing.kind, encoder(self.prepared(thing.value)))
        handle = getattr(thing, "handle_on", None)
        return handle(self) if handle is not None else None

    def call(
        self,
        case: Case,
        path: str,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
        options: CallOptions = PLAIN,
    ) -> Seen:
        """Make a call and interpret the reply; a bad end is raised as an Outcome."""
        encoder = Encoder(special=self.special)
        self._widened.clear()  # another call's tensors may have the same ids
        message = wire.Call(
            exercise=case.exercise,
            handle=options.handle,
            path=path,
            args=tuple(encoder(self.prepared(a)) for a in args),
            kwargs={k: encoder(self.prepared(v)) for k, v in (kwargs or {}).items()},
            device=self.device,
            not_allowed=case.patterns,
            construct=options.construct,
            dtype=options.dtype,
            state=encoder(self.prepared(options.state)),
            cotangents=self._cotangents(options.cotangents, encoder),
            count=options.count,
            compiled=options.compiled,
            order=options.order,
            withheld=options.withheld,
            fetch=options.fetch,
            fresh=self.fresh,
            brought=options.brought,
            printing=options.printing,
        )
        self.fresh = False
        self.last = None
        self.last = answer = self.target.request(wire.pack(message, encoder.buffers))
        if not self.is_reference:
            self.asked.append(message)
        return self._interpret(case, message, answer, options.owner)

    def _cotangents(
        self, given: Sequence[torch.Tensor] | None, encoder: Encoder
    ) -> tuple[wire.Value, ...] | None:
        if given is None:
            return None
        return tuple(encoder(self.prepared(c)) for c in given)

    def forget(self) -> None:
        """Let go of the last call: of what was answered, and of the tensors that were widened."""
        self.last = None
        self._widened.clear()

    def _sizes(self) -> frozenset[int]:
        """The sizes that were asked about in this test."""
        values = [v for call in self.asked for v in (*call.args, *call.kwargs.values(), call.state)]
        return with_products(_shapes(values))

    def _interpret(self, case: Case, call: wire.Call, answer: Answer, owner: str = "") -> Seen:
        path, asked = call.path, _shapes_asked(call.state)
        reply, buffers = answer
        if not self.is_reference:
            reply = Echo(self.source).reply(reply, frozenset(asked))
        if self.is_reference and reply.status != "ok":
            raised = reply.raised
            detail = f": {raised.type}: {raised.message}" if raised else ""
            if reply.status == "raised" and not self.wide:
                raise ReferenceRaised(reply, f"the reference's {path} raised{detail}")
            if reply.status == "missing":
                raise NoSuchName(path)
            raise GraderFault(f"the reference's {path} answered {reply.status}{detail}")
        if reply.banned and not self.is_reference:
            by_model = any(isinstance(a, wire.SpecialV) and a.kind == _ENCODER for a in call.args)
            raise forbidden(reply.banned, case.module, Echo(self.source), by_model)
        if reply.status == "missing":
            raise Crashed(
                f"`{path or 'the object'}` is not in {case.module}. Was it renamed or deleted?"
            )
        if reply.status == "state":
            assert reply.mismatch is not None
            raise state_mismatch(reply.mismatch, path, Echo(self.source), asked)
        if reply.raised is not None:
            place, sizes = case.module, self._sizes()
            named = ".".join(part for part in (owner, path) if part)
            raise crashed(
                named, reply.raised, place, self.source, sizes=sizes, brought=bool(call.brought)
            )
        if reply.status == "too_large":
            raise LimitExceeded("The result is far larger than it can be.")
        try:
            return self._decode(case, reply, buffers)
        except wire.BadFrame:
            raise BadReply("What your function returned does not fit together.") from None

    def _decode(self, case: Case, reply: wire.Reply, buffers: list[memoryview]) -> Seen:
        """The reply's values; a student's tensors have data, but gradients on the claimed device.

        There they come without any where torch's own formulas were compared on the CPU.
        """
        trusted = self.is_reference
        echo = Echo(self.source)
        decoder = Decoder(
            buffers,
            special=lambda v, d: read_special(v if trusted else echo.value(v), d),
            without_data=trusted,
            # what came, and room for views that are expanded
            budget=_VIEWS + 2 * sum(map(len, buffers)),
        )
        value, gradients = decoder(reply.value), None
        if reply.gradients is not None:
            decoder.without_data = trusted or case.device == "fake-gpu"
            gradients = tuple(decoder(g) for g in reply.gradients)
            if not all(g is None or isinstance(g, torch.Tensor) for g in gradients):
                raise wire.BadFrame("a gradient that is no tensor")
        return Seen(value, reply.value, gradients, reply)


class NoSuchName(GraderFault):
    """A hidden test calls what the solution has not."""

    def __init__(self, name: str) -> None:
        super().__init__(f"the solution has no `{name}`")
        self.name = name


class ReferenceRaised(GraderFault):
    """The reference refused a call; `refuses` expects that."""

    def __init__(self, reply: wire.Reply, message: str) -> None:
        super().__init__(message)
        assert reply.raised is not None
        self.raised = reply.raised


@dataclass
class Case:
    """A hidden test that runs against one submission."""

    test: str
    exercise: str
    module: str
    patterns: tuple[str, ...]
    device: str
    dtype: str
    public: bool
    draw: Draw
    student: Side
    reference: Side
    precise: Side
    names: Names = field(default_factory=Names)

    def begin(self) -> None:
        for side in (self.student, self.reference, self.precise):
            side.target.begin(self.test, self.exercise)

    def end(self) -> None:
        """Let go of what the sides answered: cycles would keep it until they are collected."""
        for side in (self.student, self.reference, self.precise):
            side.forget()

    def cotangents(self, result: Any) -> list[torch.Tensor]:
        """A drawn cotangent for every float tensor of a result."""
        floats = [y for y in _tensors(result) if y.is_floating_point()]
        return [self.draw.like(tuple(y.shape), y.dtype) for y in floats]


def _shapes_asked(state: wire.Value) -> dict[str, tuple[int, ...]]:
    """The names and shapes of the parameters that a module is to have."""
    if not isinstance(state, wire.MapV):
        return {}
    pairs = zip(state.keys, state.items, strict=True)
    return {str(k): v.shape for k, v in pairs if isinstance(v, wire.TensorV)}


def _shapes(values: Iterable[wire.Value]) -> Iterator[tuple[int, ...]]:
    """The shapes and whole numbers among values of our own."""
    for value in values:
        if isinstance(value, (wire.TensorV, wire.ArrayV)):
            yield value.shape
        elif isinstance(value, int):
            yield (value,)
        elif isinstance(value, (wire.SeqV, wire.MapV)):
            yield (len(value.items),)
            yield from _shapes(value.items)
        elif isinstance(value, wire.SpecialV):
            yield from _shapes((value.value,))


def _tensors(value: Any) -> Iterator[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from _tensors(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from _tensors(item)
