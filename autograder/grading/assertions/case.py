"""The state of a running hidden test: its axes, its inputs, and the programs that it calls."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec
import numpy as np
import torch

from ...worker.protocol import frames
from ...worker.protocol.dtypes import dtype_without_operator
from ...worker.protocol.frames import nested
from ...worker.protocol.values import Decoder, Encoder, read_special
from ...worker.torch_support.devices import tensors_in
from ..disclosure.allowed_words import AllowedWords
from ..disclosure.failure_messages import crashed, forbidden, state_mismatch
from ..disclosure.leak_budget import with_products
from ..disclosure.signatures import Signatures
from ..outcomes import BadReply, Crashed, GraderFault, LimitExceeded, NotRun
from ..targets.in_process import Target
from .inputs import Draw

_EXPANDED_VIEWS = 8 << 20  # bytes that a decoded reply may occupy beyond twice its buffers
_MODEL_ARGUMENT = "hf_encoder"


class Device(str):
    """The name of a test's device, which the worker converts to a torch.device."""


@dataclass(frozen=True)
class Special:
    """An argument that only the worker can create (see frames.SpecialV)."""

    kind: Any
    value: Any


class CallOptions(msgspec.Struct, frozen=True):
    """The options of one call. frames.Call describes all fields except `owner`.

    owner: the name of the object's class, for messages
    """

    handle: int | None = None
    construct: bool = False
    dtype: str | None = None
    state: Mapping[str, torch.Tensor] | None = None
    cotangents: Sequence[torch.Tensor] | None = None
    count: bool = False
    compiled: bool = False
    order: int | None = None
    kernels_only: bool = False
    fetch: bool = False
    brought: str = ""
    printing: bool = False
    owner: str = ""

    def but(self, **changes: Any) -> CallOptions:
        """Return a copy of the options with some fields replaced."""
        return msgspec.structs.replace(self, **changes)

    def qualified(self, path: str) -> str:
        """Return a path, prefixed with the class of the called object if there is one."""
        return ".".join(part for part in (self.owner, path) if part)


PLAIN = CallOptions()


class _DoubleEncoder(Encoder):
    """Encodes float arguments in double precision."""

    def tensor(self, x: torch.Tensor) -> frames.Value:
        return super().tensor(x.double() if x.is_floating_point() else x)

    def array(self, x: np.ndarray[Any, Any] | np.generic) -> frames.Value:
        return super().array(x.astype("float64") if x.dtype.kind == "f" else x)


@dataclass(frozen=True)
class CallResult:
    """A reply with its decoded value and gradients. `raw`: the encoded value."""

    value: Any
    raw: frames.Value
    gradients: tuple[Any, ...] | None
    reply: frames.Reply


class NoSuchName(GraderFault):
    """Raised if a hidden test calls a name that the solution does not define."""

    def __init__(self, name: str) -> None:
        super().__init__(f"the solution has no `{name}`")
        self.name = name


@dataclass
class Side:
    """A program that one test calls: the submission, the reference, or the reference in float64.

    source: the lines of the submission's module
    fresh:  whether the next call is the first call of the test
    calls:  the calls that the test has made to the submission so far
    """

    target: Target
    device: str
    in_float64: bool = False
    is_reference: bool = True
    source: tuple[str, ...] = ()
    fresh: bool = True
    calls: list[frames.Call] = field(default_factory=list)

    def call(
        self,
        case: Case,
        path: str,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
        options: CallOptions = PLAIN,
    ) -> CallResult:
        """Make a call and return its decoded reply.

        Raise an Outcome if the submission fails, and a GraderFault if the reference fails.
        """
        encoder = (_DoubleEncoder if self.in_float64 else Encoder)(special=self._special)
        fields = msgspec.structs.asdict(options)
        del fields["owner"]
        fields["args"] = tuple(map(encoder, args))
        fields["kwargs"] = {k: encoder(v) for k, v in (kwargs or {}).items()}
        fields["state"] = encoder(options.state)
        if options.cotangents is not None:
            fields["cotangents"] = tuple(map(encoder, options.cotangents))
        call = frames.Call(
            exercise=case.exercise,
            path=path,
            device=self.device,
            not_allowed=case.patterns,
            fresh=self.fresh,
            **fields,
        )
        self.fresh = False
        reply, buffers = self.target.request(frames.pack(call, encoder.buffers))
        if self.is_reference:
            self._check_reference(path, reply)
        else:
            self.calls.append(call)
            self._check_submission(case, call, reply, options)
        try:
            return self._decode(case, reply, buffers)
        except frames.BadFrame as error:
            if self.is_reference:
                raise GraderFault(f"the reference's {path} replied with {error}") from None
            raise BadReply("The return value of your function is not plain data.") from None

    def _special(self, thing: object, encoder: Encoder) -> frames.Value | None:
        if isinstance(thing, Device):
            return frames.SpecialV("device", self.device)
        if isinstance(thing, torch.device):
            return frames.SpecialV("device", str(thing))
        if isinstance(thing, torch.dtype):
            return frames.SpecialV("dtype", str(thing).removeprefix("torch."))
        if isinstance(thing, slice):
            return frames.SpecialV("slice", encoder([thing.start, thing.stop, thing.step]))
        if isinstance(thing, Special):
            return frames.SpecialV(thing.kind, encoder(thing.value))
        object_on = getattr(thing, "object_on", None)
        return object_on(self).handle if object_on is not None else None

    def _check_reference(self, path: str, reply: frames.Reply) -> None:
        if reply.status == "missing":
            raise NoSuchName(path)
        if reply.status != "ok":
            raised = reply.raised
            detail = f": {raised.type}: {raised.message}" if raised else ""
            raise GraderFault(f"the reference's {path} replied {reply.status!r}{detail}")

    def _check_submission(
        self, case: Case, call: frames.Call, reply: frames.Reply, options: CallOptions
    ) -> None:
        path, words = call.path, AllowedWords(self.source)
        if reply.banned:
            by_model = any(
                isinstance(a, frames.SpecialV) and a.kind == _MODEL_ARGUMENT for a in call.args
            )
            raise forbidden(reply.banned, case.module, words, by_model)
        if reply.status == "missing":
            raise Crashed(
                f"`{path or 'the object'}` is not in {case.module}. Was it renamed or deleted?"
            )
        if reply.status == "state":
            assert reply.mismatch is not None
            raise state_mismatch(reply.mismatch, path, words, _parameter_shapes(call.state))
        if reply.raised is not None:
            if dtype_without_operator(reply.raised.message) == case.dtype:
                raise NotRun(f"This needs an operator that torch lacks for {case.dtype}.")
            arguments = (v for c in self.calls for v in (*c.args, *c.kwargs.values(), c.state))
            outcome = crashed(
                options.qualified(path),
                reply.raised,
                case.module,
                self.source,
                sizes=with_products(_shapes(arguments)),
                brought=bool(call.brought),
            )
            outcome.raised = reply.raised if reply.status == "raised" else None
            raise outcome
        if reply.status == "too_large":
            raise LimitExceeded("The result is far larger than it can be.")

    def _decode(self, case: Case, reply: frames.Reply, buffers: list[memoryview]) -> CallResult:
        """Decode a reply; raise frames.BadFrame if a submission's tensor has no data.

        Gradients on the fake GPU need no data, because tests on the CPU compare their values.
        """
        trusted = self.is_reference
        words = AllowedWords(self.source)
        decoder = Decoder(
            buffers,
            special=lambda v, d: read_special(v if trusted else words.without_type_name(v), d),
            without_data=trusted,
            budget=_EXPANDED_VIEWS + 2 * sum(map(len, buffers)),
        )
        value, gradients = decoder(reply.value), None
        if reply.gradients is not None:
            decoder.without_data = trusted or case.device == "fake-gpu"
            gradients = tuple(decoder(g) for g in reply.gradients)
            if not all(g is None or isinstance(g, torch.Tensor) for g in gradients):
                raise frames.BadFrame("a gradient is not a tensor")
        return CallResult(value, reply.value, gradients, reply)


@dataclass
class Case:
    """A hidden test that runs on one submission."""

    test: str
    exercise: str
    module: str
    patterns: tuple[str, ...]
    device: str
    dtype: str
    draw: Draw
    student: Side
    reference: Side
    precise: Side
    signatures: Signatures = field(default_factory=Signatures)

    def begin(self) -> None:
        for side in (self.student, self.reference, self.precise):
            side.target.begin(self.test, self.exercise)

    def call_in_float64(
        self, path: str, args: tuple[Any, ...], kwargs: dict[str, Any], options: CallOptions
    ) -> CallResult | None:
        """Call the reference in float64; return None if the test uses float64 or the call fails."""
        if self.dtype == "float64":
            return None
        try:
            return self.precise.call(self, path, args, kwargs, options)
        except GraderFault:
            return None  # then results are compared with the reference in the test's dtype

    def cotangents(self, result: Any) -> list[torch.Tensor]:
        """Draw a random cotangent for every float tensor in a result."""
        floats = [y for y in tensors_in(result) if y.is_floating_point()]
        return [self.draw.like(tuple(y.shape), y.dtype) for y in floats]


def _parameter_shapes(state: frames.Value) -> dict[str, tuple[int, ...]]:
    if not isinstance(state, frames.MapV):
        return {}
    pairs = zip(state.keys, state.items, strict=True)
    return {str(k): v.shape for k, v in pairs if isinstance(v, frames.TensorV)}


def _shapes(values: Iterable[frames.Value]) -> Iterator[tuple[int, ...]]:
    """Yield the shapes of arrays, the values of integers and the lengths of containers."""
    for value in nested(values):
        if isinstance(value, (frames.TensorV, frames.ArrayV)):
            yield value.shape
        elif isinstance(value, int):
            yield (value,)
        elif isinstance(value, (frames.SeqV, frames.MapV)):
            yield (len(value.items),)
